// Hands finished answers to the worker.
import type { RenderReply, RenderRequest } from './worker';

/** HTML of a finished answer, not yet sanitized; `null` when it could not be rendered. */
export type Settle = (text: string) => Promise<string | null>;

/** Renders in a module worker, or on this thread where there are no workers. */
export function createSettle(): Settle {
  if (typeof Worker === 'undefined') {
    return async (text) => (await import('./settled')).renderSettled(text);
  }
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  const waiting = new Map<number, (html: string | null) => void>();
  let next = 1;
  worker.onmessage = ({ data }: MessageEvent<RenderReply>) => {
    waiting.get(data.id)?.(data.html);
    waiting.delete(data.id);
  };
  worker.onerror = () => {
    for (const resolve of waiting.values()) resolve(null);
    waiting.clear();
  };
  return (text) =>
    new Promise((resolve) => {
      const id = next++;
      waiting.set(id, resolve);
      worker.postMessage({ id, text } satisfies RenderRequest);
    });
}
