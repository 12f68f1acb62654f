import { afterEach, expect, it, vi } from 'vitest';

import { copyText } from './copy';

function clipboard(writeText: (text: string) => Promise<void>): void {
  Object.defineProperty(navigator, 'clipboard', { value: { writeText }, configurable: true });
}

afterEach(() => {
  Reflect.deleteProperty(navigator, 'clipboard');
  Reflect.deleteProperty(document, 'execCommand');
});

it('uses the clipboard', async () => {
  const write = vi.fn(async () => undefined);
  clipboard(write);
  expect(await copyText('a')).toBe(true);
  expect(write).toHaveBeenCalledWith('a');
});

it('falls back to a selection, and leaves the page as it was', async () => {
  clipboard(() => Promise.reject(new Error('NotAllowedError')));
  let selected = '';
  document.execCommand = () => {
    selected = (document.activeElement as HTMLTextAreaElement).value;
    return true;
  };
  const button = document.createElement('button');
  document.body.append(button);
  button.focus();
  expect(await copyText('text')).toBe(true);
  expect(selected).toBe('text');
  expect(document.activeElement).toBe(button);
  expect(document.querySelector('textarea')).toBeNull();
  button.remove();
});

it('says when nothing was copied', async () => {
  clipboard(() => Promise.reject(new Error('NotAllowedError')));
  document.execCommand = () => false;
  expect(await copyText('text')).toBe(false);
});
