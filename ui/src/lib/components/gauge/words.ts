import { formatBytes, formatCount } from '$lib/format/numbers';
import type { PartName } from '$lib/gauge/parts';
import type { MemoryGauge } from '$lib/ipc';
import { m } from '$lib/paraglide/messages.js';

const NAMES: Record<PartName, () => string> = {
  weights: m.part_weights,
  kv_used: m.part_kv_used,
  kv_reserved: m.part_kv_reserved,
  kv_idle: m.part_kv_idle,
  workspace: m.part_workspace,
  runtime: m.part_runtime,
  free: m.part_free,
  other: m.part_other,
};

export function partName(name: PartName): string {
  return NAMES[name]();
}

export type GaugeLevel = 'empty' | 'ok' | 'tight' | 'blocked';

export function levelOf(state: string): GaugeLevel {
  return state === 'empty' || state === 'tight' || state === 'blocked' ? state : 'ok';
}

export function levelName(level: GaugeLevel): string {
  switch (level) {
    case 'empty':
      return m.gauge_state_empty();
    case 'ok':
      return m.gauge_state_ok();
    case 'tight':
      return m.gauge_state_tight();
    case 'blocked':
      return m.gauge_state_blocked();
  }
}

/** What Plimsoll itself holds, the rest of the machine aside. */
export function ownBytes(gauge: MemoryGauge): number {
  return (
    gauge.weightsBytes +
    gauge.kvUsedBytes +
    gauge.kvReservedBytes +
    gauge.kvIdleBytes +
    gauge.workspaceBytes +
    gauge.runtimeBytes
  );
}

/** The whole gauge in one sentence, for those who do not see it. */
export function gaugeSentence(gauge: MemoryGauge): string {
  return m.gauge_sentence({
    own: formatBytes(ownBytes(gauge)),
    budget: formatBytes(gauge.budgetBytes),
    used: formatCount(gauge.kvUsedTokens),
    reserved: formatCount(gauge.kvReservedTokens),
    context: formatCount(gauge.contextTokens),
    state: levelName(levelOf(gauge.state)),
  });
}
