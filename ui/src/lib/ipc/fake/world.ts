// The state of the scripted backend's world, and the scenes that it can open on.
import type { IpcError, MessageStats, ModelStatus, PlanReport, Settings } from '../generated';
import { answerTo } from './answers';
import type { FakeModel } from './catalogue';
import { MODELS } from './catalogue';
import { planOf } from './pricing';
import { FakeConversation } from './tree';

/** What the world looks like when the page opens. */
export type FakeScenario =
  'chat' | 'new' | 'empty' | 'nothing' | 'loading' | 'failed' | 'base' | 'blocked' | 'tight';

export interface FakeOptions {
  scenario: FakeScenario;
  /** Milliseconds between two bursts of tokens. */
  burstMs: number;
  tokensPerBurst: number;
  /** Milliseconds that a load takes. */
  loadMs: number;
  locale: string;
  theme: string;
}

export const DEFAULTS: FakeOptions = {
  scenario: 'new',
  burstMs: 16,
  tokensPerBurst: 1,
  loadMs: 900,
  locale: 'en',
  theme: 'system',
};

/** `?scenario=blocked&locale=zh-CN&theme=dark&tokens=4` */
export function optionsFromQuery(query: string): Partial<FakeOptions> {
  const params = new URLSearchParams(query);
  const options: Partial<FakeOptions> = {};
  const scenario = params.get('scenario');
  if (scenario) options.scenario = scenario as FakeScenario;
  options.locale = params.get('locale') ?? navigator.language;
  options.theme = params.get('theme') ?? DEFAULTS.theme;
  const tokens = Number(params.get('tokens'));
  if (tokens > 0) options.tokensPerBurst = tokens;
  return options;
}

export interface World {
  models: FakeModel[];
  settings: Settings;
  loaded: FakeModel | null;
  status: ModelStatus;
  conversation: FakeConversation;
}

export function stageWorld(options: FakeOptions): World {
  const world: World = {
    models: [...MODELS],
    settings: {
      model: MODELS[0]?.entry.id ?? null,
      contextTokens: 4096,
      outputTokens: 512,
      memoryFraction: 0.75,
      precision: 'auto',
      kv: 'auto',
      threads: 0,
      temperature: 0.2,
      topP: 0.9,
      topK: 0,
      minP: 0,
      repetitionPenalty: 1,
      systemPrompt: '',
      theme: options.theme,
      language: 'auto',
    },
    loaded: null,
    status: { state: 'empty' },
    conversation: new FakeConversation(1),
  };
  SCENES[options.scenario](world);
  return world;
}

const SCENES: Record<FakeScenario, (world: World) => void> = {
  new: (world) => ready(world, 0),
  chat: (world) => {
    ready(world, 0);
    talk(world.conversation);
  },
  blocked: (world) => {
    world.settings.contextTokens = 1024;
    ready(world, 0);
    talk(world.conversation);
    world.conversation.draft = 'Please compare the load lines of five ships in detail. '.repeat(30);
  },
  base: (world) => ready(world, 1),
  tight: (world) => {
    world.settings.contextTokens = 32_768;
    ready(world, 2);
  },
  empty: (world) => {
    world.settings.model = null;
  },
  nothing: (world) => {
    world.models = [];
    world.settings.model = null;
  },
  loading: (world) => {
    const model = world.models[2];
    if (!model) return;
    const bytes = { doneBytes: 2_300_000_000, totalBytes: model.weightsBytes };
    world.status = { state: 'loading', model: model.entry.id, ...bytes };
  },
  failed: (world) => {
    const model = world.models.find((candidate) => candidate.entry.problem !== null);
    if (model?.entry.problem)
      world.status = { state: 'failed', model: model.entry.id, error: model.entry.problem };
  },
};

function ready(world: World, index: number): void {
  const model = world.models[index];
  if (!model) return;
  world.settings.model = model.entry.id;
  world.loaded = model;
  world.status = { state: 'ready', model: model.entry, plan: planOf(model, world.settings), loadMs: 840 };
}

function talk(conversation: FakeConversation): void {
  let parent: number | null = null;
  for (const prompt of ['What is a Plimsoll mark?', 'Write a Rust function that checks the load.']) {
    const user: number = conversation.add(parent, 'user', prompt);
    const answer: number = conversation.add(user, 'assistant', answerTo(prompt));
    const stats = { ...emptyStats(412, 371), outputTokens: 218, firstTokenMs: 84, tokensPerSecond: 71.4 };
    conversation.update(answer, { stats });
    parent = answer;
  }
}

export function emptyStats(prompt: number, cached: number): MessageStats {
  return {
    promptTokens: prompt,
    cachedTokens: cached,
    outputTokens: 0,
    firstTokenMs: 0,
    tokensPerSecond: 0,
    prefillTokensPerSecond: 940,
  };
}

export function refusal(code: IpcError['code'], message: string, detail: string | null): IpcError {
  return { code, message, detail, numbers: {} };
}

export function doesNotFit(plan: PlanReport): IpcError {
  const numbers = { needed: plan.totalBytes, budget: plan.budgetBytes, largestContext: plan.largestContext };
  return { code: 'plan_does_not_fit', message: 'the plan does not fit', detail: null, numbers };
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
