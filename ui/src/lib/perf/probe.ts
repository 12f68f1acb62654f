// Numbers about the stream that the window's end-to-end tests read.
import type { StreamProbe } from '$lib/state/generation.svelte';

export interface StreamMeasurements {
  /** From the engine's first token to the frame that shows it. */
  firstDeltaDelayMs: number | null;
  /** Longest time between two frames while an answer streamed. */
  maxFrameGapMs: number;
  /** Delta events of the last answer. */
  deltas: number;
}

declare global {
  interface Window {
    __plimsoll?: StreamMeasurements;
  }
}

export function createProbe(target: Window): StreamProbe {
  let frame = 0;
  let last = 0;
  let waiting = false;
  const measured: StreamMeasurements = { firstDeltaDelayMs: null, maxFrameGapMs: 0, deltas: 0 };
  target.__plimsoll = measured;
  const watch = (time: number): void => {
    if (last > 0 && !target.document.hidden)
      measured.maxFrameGapMs = Math.max(measured.maxFrameGapMs, time - last);
    last = time;
    frame = target.requestAnimationFrame(watch);
  };
  return {
    begin() {
      target.cancelAnimationFrame(frame);
      Object.assign(measured, { firstDeltaDelayMs: null, maxFrameGapMs: 0, deltas: 0 });
      last = 0;
      waiting = false;
      frame = target.requestAnimationFrame(watch);
    },
    delta(engineMs) {
      measured.deltas += 1;
      if (measured.firstDeltaDelayMs !== null || waiting) return;
      waiting = true;
      // The text is in the document now; the next frame paints it.
      target.requestAnimationFrame(() => {
        measured.firstDeltaDelayMs = Date.now() - engineMs;
      });
    },
    end() {
      target.cancelAnimationFrame(frame);
    },
  };
}
