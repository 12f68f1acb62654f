// A realistic scripted backend for browser work and tests. It streams, enforces admission and prices settings.
import type { Backend, CommandArgs, CommandName, EventName, EventPayload } from './backend';
import type {
  Commands,
  IpcError,
  MemoryGauge,
  MessageStats,
  ModelStatus,
  PlanReport,
  SendRequest,
  Settings,
} from './generated';
import { check, promptTokens } from './fake/admission';
import { answerTo, CONTINUATION, pieces } from './fake/answers';
import type { FakeModel } from './fake/catalogue';
import { DEVICE, MODELS } from './fake/catalogue';
import { DOCTOR } from './fake/doctor';
import { kvBytes, planOf, previewOf } from './fake/pricing';
import { FakeConversation } from './fake/tree';

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

const DEFAULTS: FakeOptions = {
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

export function createFakeBackend(given: Partial<FakeOptions> = {}): FakeBackend {
  return new FakeBackend({ ...DEFAULTS, ...given });
}

type Handlers = {
  [K in CommandName]: (args: Commands[K]['args']) => Commands[K]['result'] | Promise<Commands[K]['result']>;
};

interface Running {
  id: number;
  message: number;
  seq: number;
  rest: string[];
  stats: MessageStats;
  limit: number;
  startedAt: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class FakeBackend implements Backend {
  /** Every command that the page ran, for tests. */
  readonly calls: { name: CommandName; args: unknown }[] = [];
  /** The next call of a command fails with this error. */
  readonly failNext = new Map<CommandName, IpcError>();
  #listeners = new Map<EventName, Set<(payload: never) => void>>();
  #options: FakeOptions;
  #models = [...MODELS];
  #settings: Settings;
  #loaded: FakeModel | null = null;
  #status: ModelStatus = { state: 'empty' };
  #conversation = new FakeConversation(1);
  #running: Running | null = null;
  #next = 1;
  #reserveTokens = 0;

  constructor(options: FakeOptions) {
    this.#options = options;
    this.#settings = {
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
    };
    this.#stage(options.scenario);
  }

  async invoke<K extends CommandName>(name: K, ...args: CommandArgs<K>): Promise<Commands[K]['result']> {
    this.calls.push({ name, args: structuredClone(args[0] ?? null) });
    await Promise.resolve();
    const failure = this.failNext.get(name);
    if (failure) {
      this.failNext.delete(name);
      throw failure;
    }
    const handler = this.#handlers[name] as (
      value: unknown,
    ) => Commands[K]['result'] | Promise<Commands[K]['result']>;
    return structuredClone(await handler(args[0] ?? null));
  }

  async listen<E extends EventName>(
    name: E,
    handler: (payload: EventPayload<E>) => void,
  ): Promise<() => void> {
    const handlers = this.#listeners.get(name) ?? new Set();
    handlers.add(handler as (payload: never) => void);
    this.#listeners.set(name, handlers);
    return () => void handlers.delete(handler as (payload: never) => void);
  }

  /** Sends an event as the backend would; tests use it to make gaps. */
  emit<E extends EventName>(name: E, payload: EventPayload<E>): void {
    for (const handler of this.#listeners.get(name) ?? []) handler(structuredClone(payload) as never);
  }

  #handlers: Handlers = {
    app_info: () => ({
      version: '0.1.0',
      dataDir: '/home/mira/.local/share/plimsoll',
      modelsDir: '/home/mira/.local/share/plimsoll/models',
      cpu: DEVICE.name,
      kernels: DEVICE.kernels,
      memoryTotalBytes: DEVICE.totalBytes,
      memoryFreeBytes: DEVICE.totalBytes - DEVICE.otherBytes,
      locale: this.#options.locale,
    }),
    doctor: () => DOCTOR,
    models_list: () => this.#models.map((model) => model.entry),
    model_import_dialog: () => null,
    model_import: (path) => {
      throw refusal('io', `no such file: ${path}`, path);
    },
    model_load: (id) => this.#load(id),
    model_unload: () => this.#setStatus({ state: 'empty' }, null),
    model_status: () => this.#status,
    settings_get: () => this.#settings,
    settings_preview: (wanted) => previewOf(this.#modelFor(wanted), wanted, this.#plan()),
    settings_apply: (wanted) => this.#apply(wanted),
    memory_gauge: () => this.#gauge(),
    conversation_get: () => this.#conversation.view(),
    conversation_new: () => {
      const draft = this.#conversation.draft;
      this.#conversation = new FakeConversation(this.#conversation.id + 1);
      this.#conversation.draft = draft;
      this.#reserveTokens = 0;
      this.emit('memory', this.#gauge());
      return this.#conversation.view();
    },
    conversation_select_sibling: ({ message, sibling }) => {
      this.#conversation.select(message, sibling);
      return this.#conversation.view();
    },
    conversation_drop_messages: ({ messages, dropped }) => {
      for (const id of messages) this.#conversation.update(id, { dropped });
      return this.#conversation.view();
    },
    draft_save: ({ text }) => {
      this.#conversation.draft = text;
      return null;
    },
    prompt_check: (request) => {
      const result = check(this.#admission(), request);
      this.#reserveTokens = result.allowed ? result.promptTokens + result.outputTokens : 0;
      this.emit('memory', this.#gauge(result.refusal?.code === 'context_exceeded'));
      return result;
    },
    generation_send: (request) => this.#send(request),
    generation_stop: (id) => {
      if (this.#running?.id === id) this.#finish('stopped');
      return null;
    },
    generation_snapshot: (id) => {
      const running = this.#running;
      if (running?.id !== id) throw refusal('not_found', `generation ${id}`, String(id));
      const node = this.#conversation.node(running.message);
      return {
        generation: id,
        message: running.message,
        seq: running.seq - 1,
        text: node?.text ?? '',
        state: node?.state ?? 'streaming',
        stats: running.stats,
      };
    },
    log_ui: () => null,
    open_link: () => null,
  };

  #modelFor(settings: Settings): FakeModel {
    const found = this.#models.find((model) => model.entry.id === settings.model) ?? this.#models[0];
    if (!found) throw refusal('no_model', 'no model', null);
    return found;
  }

  #plan(): PlanReport | null {
    return this.#loaded ? planOf(this.#loaded, this.#settings) : null;
  }

  #admission() {
    return {
      model: this.#loaded,
      settings: this.#settings,
      conversation: this.#conversation,
      busy: this.#running !== null,
    };
  }

  #setStatus(status: ModelStatus, loaded: FakeModel | null): ModelStatus {
    this.#status = status;
    this.#loaded = loaded;
    this.emit('model_status', status);
    this.emit('memory', this.#gauge());
    return status;
  }

  async #load(id: string): Promise<ModelStatus> {
    const model = this.#modelFor({ ...this.#settings, model: id });
    if (model.entry.problem)
      return this.#setStatus({ state: 'failed', model: id, error: model.entry.problem }, null);
    this.#settings = { ...this.#settings, model: id };
    const plan = planOf(model, this.#settings);
    if (!plan.fits) throw doesNotFit(plan);
    const steps = 18;
    for (let step = 0; step < steps; step++) {
      const done = Math.round((model.weightsBytes * step) / steps);
      this.#setStatus({ state: 'loading', model: id, doneBytes: done, totalBytes: model.weightsBytes }, null);
      await pause(this.#options.loadMs / steps);
    }
    return this.#ready(model);
  }

  #ready(model: FakeModel): ModelStatus {
    this.#settings = { ...this.#settings, model: model.entry.id };
    const plan = planOf(model, this.#settings);
    return this.#setStatus({ state: 'ready', model: model.entry, plan, loadMs: this.#options.loadMs }, model);
  }

  async #apply(wanted: Settings): Promise<ModelStatus> {
    const model = this.#modelFor(wanted);
    const before = this.#plan();
    const plan = planOf(model, wanted);
    if (!plan.fits) throw doesNotFit(plan);
    this.#settings = { ...wanted };
    this.emit('settings', this.#settings);
    const reload = before !== null && (before.totalBytes !== plan.totalBytes || before.model !== plan.model);
    if (reload) return this.#load(model.entry.id);
    return this.#loaded ? this.#ready(this.#loaded) : this.#status;
  }

  #gauge(blocked = false): MemoryGauge {
    const model = this.#loaded;
    const used = model
      ? this.#conversation.branch().length > 0
        ? promptTokens(this.#conversation, '')
        : 0
      : 0;
    const context = this.#settings.contextTokens;
    const reserved = Math.max(0, Math.min(context, this.#reserveTokens) - used);
    const bytes = (tokens: number) => (model ? kvBytes(model, this.#settings.kv, tokens) : 0);
    const usedBytes = bytes(used);
    const reservedBytes = bytes(used + reserved) - usedBytes;
    const parts = {
      weightsBytes: model?.weightsBytes ?? 0,
      kvUsedBytes: usedBytes,
      kvReservedBytes: reservedBytes,
      kvIdleBytes: Math.max(0, bytes(context) - usedBytes - reservedBytes),
      workspaceBytes: model?.workspaceBytes ?? 0,
      runtimeBytes: DEVICE.runtimeBytes,
      otherBytes: DEVICE.otherBytes,
    };
    const taken = Object.values(parts).reduce((sum, part) => sum + part, 0);
    const full = used + reserved > context * 0.85;
    return {
      device: DEVICE.name,
      totalBytes: DEVICE.totalBytes,
      budgetBytes: this.#plan()?.budgetBytes ?? DEVICE.totalBytes * this.#settings.memoryFraction,
      ...parts,
      freeBytes: DEVICE.totalBytes - taken,
      kvUsedTokens: used,
      kvReservedTokens: reserved,
      contextTokens: context,
      state: !model ? 'empty' : blocked ? 'blocked' : full ? 'tight' : 'ok',
    };
  }

  #send(request: SendRequest) {
    const conversation = this.#conversation;
    const text =
      request.regenerate === null ? request.text : (conversation.node(request.regenerate)?.text ?? '');
    const continued = request.completion && text === '' ? conversation.branch().at(-1) : undefined;
    const question = { conversation: conversation.id, outputTokens: request.outputTokens, request: 0 };
    const verdict = check(this.#admission(), { ...question, draft: continued ? 'continue' : text });
    if (verdict.refusal) throw verdict.refusal;
    const { user, answer } = continued
      ? { user: continued.parent ?? continued.id, answer: continued.id }
      : this.#addTurn(request, text);
    conversation.update(answer, { state: 'streaming' });
    const id = this.#next++;
    const words = continued || !this.#loaded?.entry.chat ? CONTINUATION : answerTo(text);
    this.#running = {
      id,
      message: answer,
      seq: 0,
      rest: pieces(words),
      limit: verdict.outputTokens,
      stats: emptyStats(verdict.promptTokens, verdict.cachedTokens),
      startedAt: Date.now(),
      timer: undefined,
    };
    conversation.generation = id;
    conversation.draft = '';
    this.emit('conversation', conversation.view());
    this.#event({ kind: 'started', promptTokens: verdict.promptTokens, cachedTokens: verdict.cachedTokens });
    this.#running.timer = setTimeout(() => this.#burst(), this.#options.burstMs * 4);
    return { generation: id, userMessage: user, answerMessage: answer };
  }

  #addTurn(request: SendRequest, text: string): { user: number; answer: number } {
    const conversation = this.#conversation;
    if (request.regenerate !== null) {
      return {
        user: request.regenerate,
        answer: conversation.add(request.regenerate, 'assistant', '', 'streaming'),
      };
    }
    const parent =
      request.edit === null
        ? (conversation.branch().at(-1)?.id ?? null)
        : (conversation.node(request.edit)?.parent ?? null);
    const user = conversation.add(parent, 'user', text);
    return { user, answer: conversation.add(user, 'assistant', '', 'streaming') };
  }

  #burst(): void {
    const running = this.#running;
    if (!running) return;
    const count = Math.min(this.#options.tokensPerBurst, running.limit - running.stats.outputTokens);
    const taken = running.rest.splice(0, count);
    const now = Date.now();
    if (running.stats.outputTokens === 0) running.stats.firstTokenMs = now - running.startedAt;
    running.stats.outputTokens += taken.length;
    const seconds = Math.max(0.001, (now - running.startedAt - running.stats.firstTokenMs) / 1000);
    running.stats.tokensPerSecond = running.stats.outputTokens / seconds;
    const node = this.#conversation.node(running.message);
    this.#conversation.update(running.message, { text: (node?.text ?? '') + taken.join('') });
    this.#event({ kind: 'delta', text: taken.join(''), engineMs: now });
    if (running.stats.outputTokens % 32 === 0) this.emit('memory', this.#gauge());
    if (running.rest.length === 0) this.#finish('done');
    else if (running.stats.outputTokens >= running.limit) this.#finish('length');
    else running.timer = setTimeout(() => this.#burst(), this.#options.burstMs);
  }

  #finish(reason: 'done' | 'stopped' | 'length'): void {
    const running = this.#running;
    if (!running) return;
    clearTimeout(running.timer);
    this.#conversation.update(running.message, { state: reason, stats: { ...running.stats } });
    this.#event({ kind: 'done', reason, stats: running.stats });
    this.#running = null;
    this.#reserveTokens = 0;
    this.#conversation.generation = null;
    this.emit('conversation', this.#conversation.view());
    this.emit('memory', this.#gauge());
  }

  #event(kind: DistributiveKind): void {
    const running = this.#running;
    if (!running) return;
    const where = { generation: running.id, conversation: this.#conversation.id, message: running.message };
    this.emit('generation', { ...where, seq: running.seq++, ...kind });
  }

  #stage(scenario: FakeScenario): void {
    const [smol, gemma, qwen, unreadable] = this.#models;
    if (!smol || !gemma || !qwen || !unreadable) return;
    const load = (model: FakeModel) => void this.#ready(model);
    if (scenario === 'nothing') this.#models = [];
    if (scenario === 'nothing' || scenario === 'empty') this.#settings.model = null;
    else if (scenario === 'failed') {
      this.#status = {
        state: 'failed',
        model: unreadable.entry.id,
        error: unreadable.entry.problem ?? refusal('io', '', null),
      };
    } else if (scenario === 'loading') {
      this.#status = {
        state: 'loading',
        model: qwen.entry.id,
        doneBytes: 2_300_000_000,
        totalBytes: qwen.weightsBytes,
      };
    } else if (scenario === 'base') load(gemma);
    else if (scenario === 'tight') {
      this.#settings.contextTokens = 32_768;
      load(qwen);
    } else load(smol);
    if (scenario === 'chat' || scenario === 'blocked') this.#talk();
    if (scenario === 'blocked') {
      this.#settings.contextTokens = 1024;
      load(smol);
      this.#conversation.draft = 'Please compare the load lines of five ships in detail. '.repeat(30);
    }
  }

  #talk(): void {
    const conversation = this.#conversation;
    let parent: number | null = null;
    for (const prompt of ['What is a Plimsoll mark?', 'Write a Rust function that checks the load.']) {
      const user: number = conversation.add(parent, 'user', prompt);
      const answer = conversation.add(user, 'assistant', answerTo(prompt));
      const stats = emptyStats(412, 371);
      conversation.update(answer, {
        stats: { ...stats, outputTokens: 218, firstTokenMs: 84, tokensPerSecond: 71.4 },
      });
      parent = answer;
    }
  }
}

type DistributiveKind = import('./generated').GenerationKind;

function emptyStats(prompt: number, cached: number): MessageStats {
  return {
    promptTokens: prompt,
    cachedTokens: cached,
    outputTokens: 0,
    firstTokenMs: 0,
    tokensPerSecond: 0,
    prefillTokensPerSecond: 940,
  };
}

function refusal(code: IpcError['code'], message: string, detail: string | null): IpcError {
  return { code, message, detail, numbers: {} };
}

function doesNotFit(plan: PlanReport): IpcError {
  const numbers = { needed: plan.totalBytes, budget: plan.budgetBytes, largestContext: plan.largestContext };
  return { code: 'plan_does_not_fit', message: 'the plan does not fit', detail: null, numbers };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
