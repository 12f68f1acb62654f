import type { Backend } from './backend';

export type { Backend, CommandName, EventName, EventPayload } from './backend';
export { ERROR_CODES, toIpcError } from './backend';
export type * from './generated';

/** The window's backend, or the scripted one when the page is opened in a plain browser. */
export async function connect(): Promise<Backend> {
  if ('__TAURI_INTERNALS__' in window) return (await import('./tauri')).tauriBackend;
  const { createFakeBackend, optionsFromQuery } = await import('./fake');
  return createFakeBackend(optionsFromQuery(window.location.search));
}
