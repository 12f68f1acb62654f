import { describe, expect, it } from 'vitest';

import type { MemoryGauge } from '$lib/ipc';
import { layOut, markPosition, ownParts, parts, sum } from './parts';

const GIB = 1024 ** 3;

function gauge(change: Partial<MemoryGauge> = {}): MemoryGauge {
  return {
    device: 'CPU',
    totalBytes: 24 * GIB,
    budgetBytes: 16 * GIB,
    weightsBytes: 96_870_400,
    kvUsedBytes: 1_474_560,
    kvReservedBytes: 11_796_480,
    kvIdleBytes: 81_100_800,
    workspaceBytes: 65_011_712,
    runtimeBytes: 74_448_896,
    otherBytes: 7 * GIB,
    freeBytes: 24 * GIB - 7 * GIB - 330_702_848,
    kvUsedTokens: 64,
    kvReservedTokens: 512,
    contextTokens: 4096,
    state: 'ok',
    ...change,
  };
}

describe('parts', () => {
  it('sum to the whole machine', () => {
    expect(sum(parts(gauge()))).toBe(24 * GIB);
  });

  it('keep other programs and free memory out of the own load', () => {
    expect(sum(ownParts(gauge()))).toBe(330_702_848);
  });

  it('put the own load at the left and other programs at the right', () => {
    const names = parts(gauge()).map((part) => part.name);
    expect(names[0]).toBe('weights');
    expect(names.at(-1)).toBe('other');
  });
});

describe('layOut', () => {
  it.each([
    gauge(),
    gauge({ kvUsedBytes: 0 }),
    gauge({ weightsBytes: 1, kvUsedBytes: 1, kvReservedBytes: 1 }),
  ])('fills the bar exactly and side by side', (reading) => {
    const spans = layOut(parts(reading));
    let end = 0;
    for (const span of spans) {
      expect(span.start).toBeCloseTo(end, 9);
      expect(span.width).toBeGreaterThan(0.5);
      end = span.start + span.width;
    }
    expect(end).toBeCloseTo(100, 9);
  });

  it('leaves out what is not there', () => {
    const spans = layOut(parts(gauge({ kvReservedBytes: 0 })));
    expect(spans.map((span) => span.name)).not.toContain('kv_reserved');
  });

  it('draws nothing of nothing', () => {
    expect(layOut([])).toEqual([]);
  });
});

describe('markPosition', () => {
  it('stands at the budget', () => {
    expect(markPosition(gauge())).toBeCloseTo((16 / 24) * 100);
  });

  it('stays on the bar', () => {
    expect(markPosition(gauge({ budgetBytes: 99 * GIB }))).toBe(100);
    expect(markPosition(gauge({ totalBytes: 0 }))).toBe(0);
  });
});
