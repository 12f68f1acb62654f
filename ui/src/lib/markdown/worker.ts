import { renderSettled } from './settled';

export interface RenderRequest {
  id: number;
  text: string;
}

export interface RenderReply {
  id: number;
  html: string | null;
}

self.onmessage = ({ data }: MessageEvent<RenderRequest>) => {
  let html: string | null = null;
  try {
    html = renderSettled(data.text);
  } finally {
    // A text that breaks the renderer stays as the live renderer left it.
    self.postMessage({ id: data.id, html } satisfies RenderReply);
  }
};
