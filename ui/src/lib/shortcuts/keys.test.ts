import { describe, expect, it } from 'vitest';

import { actionOf, sends } from './keys';

function key(change: Partial<Parameters<typeof sends>[0]> & { key: string }) {
  return {
    code: '',
    ctrlKey: false,
    metaKey: false,
    shiftKey: false,
    altKey: false,
    isComposing: false,
    keyCode: 0,
    ...change,
  };
}

describe('Enter while an input method is at work', () => {
  it('belongs to the input method while it composes', () => {
    expect(sends(key({ key: 'Enter', isComposing: true, keyCode: 229 }))).toBe(false);
  });

  it('belongs to it after WebKit has ended the composition, as key code 229 tells', () => {
    expect(sends(key({ key: 'Enter', isComposing: false, keyCode: 229 }))).toBe(false);
  });

  it('sends once the composition is over', () => {
    expect(sends(key({ key: 'Enter', keyCode: 13 }))).toBe(true);
  });
});

it('Shift+Enter makes a line', () => {
  expect(sends(key({ key: 'Enter', shiftKey: true, keyCode: 13 }))).toBe(false);
});

it.each([
  [key({ key: 'Escape' }), 'stop'],
  [key({ key: 'Escape', shiftKey: true }), 'focus-composer'],
  [key({ key: 'o', code: 'KeyO', ctrlKey: true, shiftKey: true }), 'new-chat'],
  [key({ key: 'n', code: 'KeyN', metaKey: true }), 'new-chat'],
  [key({ key: ',', ctrlKey: true }), 'settings'],
  [key({ key: 'r', code: 'KeyR', ctrlKey: true }), null],
  [key({ key: 'Escape', isComposing: true }), null],
])('knows its shortcuts', (event, action) => {
  expect(actionOf(event)).toBe(action);
});
