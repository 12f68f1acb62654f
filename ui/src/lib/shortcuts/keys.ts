// Keys that mean something everywhere in the window.
export type Action = 'stop' | 'new-chat' | 'settings' | 'focus-composer';

/** Is an input method composing? WebKit ends composition before the confirming Enter's keydown; 229 still tells. */
export function isComposing(event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
  return event.isComposing || event.keyCode === 229;
}

type Keys = Pick<
  KeyboardEvent,
  'key' | 'code' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey' | 'isComposing' | 'keyCode'
>;

export function actionOf(event: Keys): Action | null {
  if (isComposing(event) || event.altKey) return null;
  const mod = event.ctrlKey || event.metaKey;
  if (event.key === 'Escape' && !mod) return event.shiftKey ? 'focus-composer' : 'stop';
  if (mod && event.shiftKey && event.code === 'KeyO') return 'new-chat';
  if (mod && !event.shiftKey && event.code === 'KeyN') return 'new-chat';
  if (mod && !event.shiftKey && event.key === ',') return 'settings';
  return null;
}

/** Enter alone sends; with Shift it makes a line; while composing it belongs to the input method. */
export function sends(event: Keys): boolean {
  return event.key === 'Enter' && !event.shiftKey && !event.altKey && !isComposing(event);
}
