// What a plan costs in the scripted backend: the same questions as the real planner, with simpler sums.
import type {
  KvChoice,
  PlanReport,
  PrecisionChoice,
  SettingOption,
  Settings,
  SettingsPreview,
} from '../generated';
import type { FakeModel } from './catalogue';
import { DEVICE } from './catalogue';

const PAGE_TOKENS = 64;
const KV_SCALE: Record<Exclude<KvChoice, 'auto'>, number> = { fp16: 1, int8: 0.53125, int4: 0.3125 };
const PRECISIONS = ['int4', 'int8', 'fp16'] as const;

export function kvBytes(model: FakeModel, kv: KvChoice, tokens: number): number {
  const pages = Math.ceil(tokens / PAGE_TOKENS);
  return Math.round(model.kvBytesPerToken * KV_SCALE[kv === 'auto' ? 'fp16' : kv]) * pages * PAGE_TOKENS;
}

export function budgetOf(fraction: number): number {
  const free = DEVICE.totalBytes - DEVICE.otherBytes - DEVICE.headroomBytes;
  return Math.round(Math.min(DEVICE.totalBytes * fraction, free));
}

export function planOf(model: FakeModel, settings: Settings): PlanReport {
  const fixed = model.weightsBytes + model.workspaceBytes + DEVICE.runtimeBytes;
  const budget = budgetOf(settings.memoryFraction);
  const perToken = kvBytes(model, settings.kv, PAGE_TOKENS) / PAGE_TOKENS;
  const kv = kvBytes(model, settings.kv, settings.contextTokens);
  const room = Math.floor((budget - fixed) / perToken / PAGE_TOKENS) * PAGE_TOKENS;
  const largest = Math.max(0, Math.min(model.entry.trainedContext, room));
  const total = fixed + kv;
  const own = model.entry.precisionClass as PrecisionChoice;
  return {
    model: model.entry.id,
    device: DEVICE.name,
    deviceTotalBytes: DEVICE.totalBytes,
    deviceFreeBytes: DEVICE.totalBytes - DEVICE.otherBytes,
    budgetBytes: budget,
    segments: [
      { name: 'weights', bytes: model.weightsBytes },
      { name: 'kv', bytes: kv },
      { name: 'workspace', bytes: model.workspaceBytes },
      { name: 'runtime', bytes: DEVICE.runtimeBytes },
    ],
    totalBytes: total,
    kvBytesPerToken: perToken,
    precision: own,
    kv: settings.kv === 'auto' ? 'fp16' : settings.kv,
    contextTokens: settings.contextTokens,
    trainedContext: model.entry.trainedContext,
    largestContext: largest,
    chunkTokens: 256,
    fits: total <= budget && settings.contextTokens <= model.entry.trainedContext,
    candidates: PRECISIONS.map((precision) => ({
      precision,
      available: precision === own,
      weightsBytes: model.weightsBytes,
      totalBytes: total,
      largestContext: largest,
      fits: precision === own && total <= budget,
    })),
  };
}

/** Every choice of the panel against `current`, the plan in force (`null`: nothing is loaded). */
export function previewOf(model: FakeModel, wanted: Settings, current: PlanReport | null): SettingsPreview {
  const plan = planOf(model, wanted);
  const base = current ?? plan;
  const priced = (value: string, changed: Partial<Settings>): SettingOption => {
    const option = planOf(model, { ...wanted, ...changed });
    const aboveTrained = option.contextTokens > option.trainedContext;
    return {
      value,
      totalBytes: option.totalBytes,
      deltaBytes: option.totalBytes - base.totalBytes,
      contextTokens: option.contextTokens,
      deltaTokens: option.contextTokens - base.contextTokens,
      fits: option.fits,
      available: true,
      reason: aboveTrained ? 'above_trained' : option.fits ? null : 'over_budget',
    };
  };
  const contexts = [...powersOfTwo(512, model.entry.trainedContext), wanted.contextTokens];
  const outputs = [...powersOfTwo(128, wanted.contextTokens), wanted.outputTokens];
  return {
    plan,
    deltaBytes: current ? plan.totalBytes - current.totalBytes : 0,
    needsReload: current !== null && (plan.totalBytes !== current.totalBytes || plan.model !== current.model),
    precision: PRECISIONS.map((value) => {
      const own = value === model.entry.precisionClass;
      return { ...priced(value, {}), available: own, reason: own ? null : 'file_precision' };
    }),
    kv: (['fp16', 'int8', 'int4'] as const).map((value) => priced(value, { kv: value })),
    context: ascending(contexts).map((tokens) => priced(String(tokens), { contextTokens: tokens })),
    output: ascending(outputs).map((tokens) => ({
      ...priced(String(tokens), {}),
      fits: plan.fits && tokens < wanted.contextTokens,
      reason: null,
      totalBytes: kvBytes(model, wanted.kv, tokens),
      deltaBytes: kvBytes(model, wanted.kv, tokens) - kvBytes(model, wanted.kv, wanted.outputTokens),
      deltaTokens: tokens - wanted.outputTokens,
    })),
    memoryFraction: [0.25, 0.5, 0.75, 0.9].map((fraction) => {
      const option = planOf(model, { ...wanted, memoryFraction: fraction });
      return {
        ...priced(String(fraction), { memoryFraction: fraction }),
        totalBytes: option.budgetBytes,
        deltaBytes: option.budgetBytes - base.budgetBytes,
        contextTokens: option.largestContext,
        deltaTokens: option.largestContext - base.largestContext,
      };
    }),
  };
}

function powersOfTwo(from: number, to: number): number[] {
  const values: number[] = [];
  for (let value = from; value <= to; value *= 2) values.push(value);
  return values;
}

function ascending(values: number[]): number[] {
  return [...new Set(values)].sort((left, right) => left - right);
}
