// Numbers as people read them, in the page's language.
import { locale } from '$lib/i18n/locale.svelte';

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function formatCount(value: number): string {
  return new Intl.NumberFormat(locale.current, { maximumFractionDigits: 0 }).format(value);
}

/** Three significant digits and a binary unit: `96.9 MiB`. */
export function formatBytes(bytes: number): string {
  let value = Math.abs(bytes);
  let unit = 0;
  while (value >= 1023.5 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  const number = new Intl.NumberFormat(locale.current, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);
  return `${bytes < 0 ? '−' : ''}${number} ${UNITS[unit] ?? ''}`;
}

/** With its sign, since a difference without one says nothing: `+123 MiB`, `−64 MiB`, `±0`. */
export function formatByteDifference(bytes: number): string {
  if (bytes === 0) return '±0';
  return bytes > 0 ? `+${formatBytes(bytes)}` : formatBytes(bytes);
}

export function formatCountDifference(value: number): string {
  if (value === 0) return '±0';
  return `${value > 0 ? '+' : '−'}${formatCount(Math.abs(value))}`;
}

export function formatPercent(fraction: number): string {
  return new Intl.NumberFormat(locale.current, { style: 'percent', maximumFractionDigits: 0 }).format(
    fraction,
  );
}

export function formatDecimal(value: number, digits = 1): string {
  return new Intl.NumberFormat(locale.current, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);
}

/** `84 ms`, `1.2 s`, `3 min`. */
export function formatDuration(ms: number): string {
  const unit = (value: number, name: string, digits: number) =>
    new Intl.NumberFormat(locale.current, {
      style: 'unit',
      unit: name,
      unitDisplay: 'short',
      maximumFractionDigits: digits,
    }).format(value);
  if (ms < 1000) return unit(ms, 'millisecond', 0);
  if (ms < 90_000) return unit(ms / 1000, 'second', ms < 10_000 ? 1 : 0);
  return unit(ms / 60_000, 'minute', 0);
}
