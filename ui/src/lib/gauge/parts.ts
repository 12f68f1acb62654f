// The gauge as named parts. Plimsoll's own load lies at the left, as far as the mark allows; other programs lie at
// the right, since what they take is what the budget cannot have.
import type { MemoryGauge } from '$lib/ipc';

export type PartName =
  'weights' | 'kv_used' | 'kv_reserved' | 'kv_idle' | 'workspace' | 'runtime' | 'free' | 'other';

export interface Part {
  name: PartName;
  bytes: number;
}

/** A part as it is drawn: `start` and `width` in percent of the bar. */
export interface Span extends Part {
  start: number;
  width: number;
}

const OWN: readonly PartName[] = ['weights', 'kv_used', 'kv_reserved', 'kv_idle', 'workspace', 'runtime'];

/** A part that is there must be seen, however small it is. */
const LEAST_WIDTH = 0.8;

export function parts(gauge: MemoryGauge): Part[] {
  return [
    { name: 'weights', bytes: gauge.weightsBytes },
    { name: 'kv_used', bytes: gauge.kvUsedBytes },
    { name: 'kv_reserved', bytes: gauge.kvReservedBytes },
    { name: 'kv_idle', bytes: gauge.kvIdleBytes },
    { name: 'workspace', bytes: gauge.workspaceBytes },
    { name: 'runtime', bytes: gauge.runtimeBytes },
    { name: 'free', bytes: gauge.freeBytes },
    { name: 'other', bytes: gauge.otherBytes },
  ];
}

/** Only what Plimsoll itself holds. */
export function ownParts(gauge: MemoryGauge): Part[] {
  return parts(gauge).filter((part) => OWN.includes(part.name));
}

export function sum(list: readonly Part[]): number {
  return list.reduce((total, part) => total + part.bytes, 0);
}

/** Lays parts side by side over the whole bar. What tiny parts get beyond their share comes from the largest. */
export function layOut(list: readonly Part[]): Span[] {
  const shown = list.filter((part) => part.bytes > 0);
  const total = sum(shown);
  if (total === 0) return [];
  const widths = shown.map((part) => Math.max(LEAST_WIDTH, (part.bytes / total) * 100));
  const over = widths.reduce((all, width) => all + width, 0) - 100;
  const largest = widths.indexOf(Math.max(...widths));
  let start = 0;
  return shown.map((part, index) => {
    const width = (widths[index] ?? 0) - (index === largest ? over : 0);
    const span = { ...part, start, width };
    start += width;
    return span;
  });
}

/** Where the mark stands, in percent of the bar. */
export function markPosition(gauge: MemoryGauge): number {
  if (gauge.totalBytes <= 0) return 0;
  return Math.min(100, Math.max(0, (gauge.budgetBytes / gauge.totalBytes) * 100));
}
