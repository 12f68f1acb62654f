// A realistic scripted backend for browser work and tests. It streams, enforces admission and prices settings.
import type { Backend, CommandArgs, CommandName, EventName, EventPayload } from './backend';
import type {
  Commands,
  GenerationKind,
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
import { DEVICE } from './fake/catalogue';
import { DOCTOR } from './fake/doctor';
import { kvBytes, planOf, previewOf } from './fake/pricing';
import { FakeConversation } from './fake/tree';
import type { FakeOptions, World } from './fake/world';
import { DEFAULTS, doesNotFit, emptyStats, pause, refusal, stageWorld } from './fake/world';

export type { FakeOptions, FakeScenario } from './fake/world';
export { optionsFromQuery } from './fake/world';

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
  #world: World;
  #running: Running | null = null;
  #next = 1;
  #reserveTokens = 0;

  constructor(options: FakeOptions) {
    this.#options = options;
    this.#world = stageWorld(options);
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
    models_list: () => this.#world.models.map((model) => model.entry),
    model_import_dialog: () => null,
    model_import: (path) => {
      throw refusal('io', `no such file: ${path}`, path);
    },
    model_load: (id) => this.#load(id),
    model_unload: () => this.#setStatus({ state: 'empty' }, null),
    model_status: () => this.#world.status,
    settings_get: () => this.#world.settings,
    settings_preview: (wanted) => previewOf(this.#modelFor(wanted), wanted, this.#plan()),
    settings_apply: (wanted) => this.#apply(wanted),
    memory_gauge: () => this.#gauge(),
    conversation_get: () => this.#world.conversation.view(),
    conversation_new: () => {
      const draft = this.#world.conversation.draft;
      this.#world.conversation = new FakeConversation(this.#world.conversation.id + 1);
      this.#world.conversation.draft = draft;
      this.#reserveTokens = 0;
      this.emit('memory', this.#gauge());
      return this.#world.conversation.view();
    },
    conversation_select_sibling: ({ message, sibling }) => {
      this.#world.conversation.select(message, sibling);
      return this.#world.conversation.view();
    },
    conversation_drop_messages: ({ messages, dropped }) => {
      for (const id of messages) this.#world.conversation.update(id, { dropped });
      return this.#world.conversation.view();
    },
    draft_save: ({ text }) => {
      this.#world.conversation.draft = text;
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
      const node = this.#world.conversation.node(running.message);
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
    const found =
      this.#world.models.find((model) => model.entry.id === settings.model) ?? this.#world.models[0];
    if (!found) throw refusal('no_model', 'no model', null);
    return found;
  }

  #plan(): PlanReport | null {
    return this.#world.loaded ? planOf(this.#world.loaded, this.#world.settings) : null;
  }

  #admission() {
    return {
      model: this.#world.loaded,
      settings: this.#world.settings,
      conversation: this.#world.conversation,
      busy: this.#running !== null,
    };
  }

  #setStatus(status: ModelStatus, loaded: FakeModel | null): ModelStatus {
    this.#world.status = status;
    this.#world.loaded = loaded;
    this.emit('model_status', status);
    this.emit('memory', this.#gauge());
    return status;
  }

  async #load(id: string): Promise<ModelStatus> {
    const model = this.#modelFor({ ...this.#world.settings, model: id });
    if (model.entry.problem)
      return this.#setStatus({ state: 'failed', model: id, error: model.entry.problem }, null);
    this.#world.settings = { ...this.#world.settings, model: id };
    const plan = planOf(model, this.#world.settings);
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
    this.#world.settings = { ...this.#world.settings, model: model.entry.id };
    const plan = planOf(model, this.#world.settings);
    return this.#setStatus({ state: 'ready', model: model.entry, plan, loadMs: this.#options.loadMs }, model);
  }

  async #apply(wanted: Settings): Promise<ModelStatus> {
    const model = this.#modelFor(wanted);
    const before = this.#plan();
    const plan = planOf(model, wanted);
    if (!plan.fits) throw doesNotFit(plan);
    this.#world.settings = { ...wanted };
    this.emit('settings', this.#world.settings);
    const reload = before !== null && (before.totalBytes !== plan.totalBytes || before.model !== plan.model);
    if (reload) return this.#load(model.entry.id);
    return this.#world.loaded ? this.#ready(this.#world.loaded) : this.#world.status;
  }

  #gauge(blocked = false): MemoryGauge {
    const model = this.#world.loaded;
    const used = model
      ? this.#world.conversation.branch().length > 0
        ? promptTokens(this.#world.conversation, '')
        : 0
      : 0;
    const context = this.#world.settings.contextTokens;
    const reserved = Math.max(0, Math.min(context, this.#reserveTokens) - used);
    const bytes = (tokens: number) => (model ? kvBytes(model, this.#world.settings.kv, tokens) : 0);
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
      budgetBytes: this.#plan()?.budgetBytes ?? DEVICE.totalBytes * this.#world.settings.memoryFraction,
      ...parts,
      freeBytes: DEVICE.totalBytes - taken,
      kvUsedTokens: used,
      kvReservedTokens: reserved,
      contextTokens: context,
      state: !model ? 'empty' : blocked ? 'blocked' : full ? 'tight' : 'ok',
    };
  }

  #send(request: SendRequest) {
    const conversation = this.#world.conversation;
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
    const words = continued || !this.#world.loaded?.entry.chat ? CONTINUATION : answerTo(text);
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
    const conversation = this.#world.conversation;
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
    const node = this.#world.conversation.node(running.message);
    this.#world.conversation.update(running.message, { text: (node?.text ?? '') + taken.join('') });
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
    this.#world.conversation.update(running.message, { state: reason, stats: { ...running.stats } });
    this.#event({ kind: 'done', reason, stats: running.stats });
    this.#running = null;
    this.#reserveTokens = 0;
    this.#world.conversation.generation = null;
    this.emit('conversation', this.#world.conversation.view());
    this.emit('memory', this.#gauge());
  }

  #event(kind: GenerationKind): void {
    const running = this.#running;
    if (!running) return;
    const where = {
      generation: running.id,
      conversation: this.#world.conversation.id,
      message: running.message,
    };
    this.emit('generation', { ...where, seq: running.seq++, ...kind });
  }
}
