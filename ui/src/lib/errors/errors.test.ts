import { afterEach, describe, expect, it } from 'vitest';

import { locale } from '$lib/i18n/locale.svelte';
import type { ErrorCode } from '$lib/ipc';
import { ERROR_CODES } from '$lib/ipc';
import { describe as wordsFor } from './errors';

const NUMBERS = {
  needed: 5_368_709_120,
  budget: 2_147_483_648,
  largestContext: 2048,
  wanted: 16_384,
  trained: 8192,
  prompt: 1500,
  output: 512,
  context: 1024,
  excess: 988,
  limit: 256,
  free: 1_073_741_824,
};

/** What each refusal must say besides words. */
const TOLD: Partial<Record<ErrorCode, string[]>> = {
  plan_does_not_fit: ['5.00 GiB', '2.00 GiB', '2,048'],
  context_above_trained: ['16,384', '8,192'],
  context_exceeded: ['1,500', '512', '1,024', '988'],
  output_limit_exceeded: ['16,384', '256'],
  prompt_limit_exceeded: ['1,500', '256'],
  out_of_memory: ['5.00 GiB', '1.00 GiB'],
  bad_header: ['blk.0.x'],
  unknown_architecture: ['blk.0.x'],
  unknown_tensor_type: ['blk.0.x'],
  missing_tensor: ['blk.0.x'],
  wrong_shape: ['blk.0.x'],
  unsupported_tokenizer: ['blk.0.x'],
  bad_template: ['blk.0.x'],
  not_found: ['blk.0.x'],
  io: ['blk.0.x'],
  bad_setting: ['blk.0.x'],
  internal: ['the words'],
};

afterEach(() => {
  locale.current = 'en';
});

const error = (code: ErrorCode) => ({ code, message: 'the words', detail: 'blk.0.x', numbers: NUMBERS });

describe.each(['en', 'zh-CN'] as const)('errors in %s', (language) => {
  it.each(ERROR_CODES)('%s has words with its names and numbers', (code) => {
    locale.current = language;
    const { text } = wordsFor(error(code));
    expect(text.length).toBeGreaterThan(3);
    expect(text).not.toMatch(/[{}]|undefined|NaN/);
    for (const told of TOLD[code] ?? []) expect(text).toContain(told);
  });

  it('gives every code its own words', () => {
    locale.current = language;
    const texts = ERROR_CODES.map((code) => wordsFor(error(code)).text);
    expect(new Set(texts).size).toBe(ERROR_CODES.length);
  });
});

it('shows a code from a newer backend as it is', () => {
  const newer = { ...error('internal'), code: 'gpu_on_fire' as ErrorCode };
  expect(wordsFor(newer).text).toContain('gpu_on_fire');
});

it('survives a refusal without its numbers', () => {
  const bare = { ...error('context_exceeded'), numbers: {}, detail: null };
  expect(wordsFor(bare).text).not.toMatch(/undefined|NaN/);
});
