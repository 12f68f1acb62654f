import { afterEach, describe, expect, it } from 'vitest';

import en from '../../../messages/en.json';
import zh from '../../../messages/zh-CN.json';
import { formatByteDifference, formatBytes, formatDuration } from '$lib/format/numbers';
import { m } from '$lib/paraglide/messages.js';
import { locale, resolveLocale } from './locale.svelte';

const placeholders = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

afterEach(() => {
  locale.current = 'en';
});

describe('messages', () => {
  it('have the same keys in every language', () => {
    expect(Object.keys(zh)).toEqual(Object.keys(en));
  });

  it('have the same placeholders in every language', () => {
    for (const [key, text] of Object.entries(en)) {
      expect(placeholders(zh[key as keyof typeof zh]), key).toEqual(placeholders(text));
    }
  });

  it('are translated, names and symbols aside', () => {
    const same = Object.entries(en).filter(([key, text]) => zh[key as keyof typeof zh] === text);
    const letters = same.filter(([, text]) => /[a-z]/i.test(text.replaceAll(/\{\w+\}/g, '')));
    expect(letters.map(([key]) => key)).toEqual(['settings_top_p', 'settings_top_k', 'settings_min_p']);
  });

  it('use full-width punctuation beside Chinese characters', () => {
    for (const [key, text] of Object.entries(zh)) {
      expect(text, key).not.toMatch(/[\u4e00-\u9fff][,:;?!(]|[,:;?!)][\u4e00-\u9fff]/);
    }
  });

  // The compiler says that it succeeded even when its message plugin could not be loaded; then nothing is there.
  it('are all compiled', () => {
    const compiled = m as unknown as Record<string, unknown>;
    for (const key of Object.keys(en)) expect(typeof compiled[key], key).toBe('function');
  });

  it('follow the language at once', () => {
    expect(m.composer_send()).toBe('Send');
    locale.current = 'zh-CN';
    expect(m.composer_send()).toBe('发送');
  });
});

it.each([
  ['auto', 'zh-CN', 'zh-CN'],
  ['auto', 'zh_TW.UTF-8', 'zh-CN'],
  ['auto', 'de-DE', 'en'],
  ['auto', 'en-GB', 'en'],
  ['en', 'zh-CN', 'en'],
  ['zh-CN', 'en', 'zh-CN'],
  ['auto', '', 'en'],
])('setting %s on a system in %s gives %s', (setting, tag, expected) => {
  expect(resolveLocale(setting, tag)).toBe(expected);
});

it('writes bytes with three digits and a binary unit', () => {
  expect([0, 1023, 1024, 98_331_424, 5_027_783_488].map(formatBytes)).toEqual([
    '0 B',
    '1,023 B',
    '1.00 KiB',
    '93.8 MiB',
    '4.68 GiB',
  ]);
  expect(formatBytes(1024 ** 2 - 1)).toBe('1.00 MiB');
});

it('writes differences with their sign', () => {
  expect([0, 1024, -2048].map(formatByteDifference)).toEqual(['±0', '+1.00 KiB', '−2.00 KiB']);
});

it('writes durations in a fitting unit', () => {
  expect([84, 1240, 45_000, 200_000].map(formatDuration)).toEqual(['84 ms', '1.2 sec', '45 sec', '3 min']);
});
