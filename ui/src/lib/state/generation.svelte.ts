import type { Backend, GenerationEvent, IpcError, MessageState, MessageStats } from '$lib/ipc';
import { toIpcError } from '$lib/ipc';
import type { Clock } from './clock';

/** The answer that is being written. */
export interface Running {
  generation: number;
  message: number;
  phase: 'reading' | 'writing';
  promptTokens: number;
  cachedTokens: number;
  /** Prompt tokens read so far. */
  doneTokens: number;
}

export interface Finished {
  generation: number;
  message: number;
  text: string;
  state: MessageState;
  stats: MessageStats | null;
  error: IpcError | null;
}

/** Sees each change of the text: the part that was added, or `null` when the whole text was replaced. */
export type TextListener = (added: string | null) => void;

/** What the performance probe wants to know. */
export interface StreamProbe {
  begin(): void;
  delta(engineMs: number): void;
  end(): void;
}

/**
 * The stream of one answer. Deltas wait for the next frame and are then handed on as one piece; the first goes
 * through at once. Events are numbered: after a gap the text comes from `generation_snapshot`.
 */
export class GenerationState {
  running = $state.raw<Running | null>(null);
  stats = $state.raw<MessageStats | null>(null);
  /** Called once for every answer that ended. */
  onFinished: (finished: Finished) => void = () => undefined;

  #text = '';
  #prefix = '';
  #pending = '';
  #deltas = 0;
  #lastSeq = -1;
  #lastFinished = 0;
  #waiting: GenerationEvent[] | null = null;
  #cancelFrame: (() => void) | null = null;
  #listeners: TextListener[] = [];

  constructor(
    private readonly backend: Backend,
    private readonly clock: Clock,
    private readonly probe: StreamProbe,
    /** Text that a message holds already when an answer continues it. */
    private readonly textOf: (message: number) => string,
  ) {}

  /** The text that listeners have been told of. */
  get text(): string {
    return this.#text;
  }

  subscribe(listener: TextListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  receive(event: GenerationEvent): void {
    if (event.generation <= this.#lastFinished) return;
    if (this.running?.generation !== event.generation) this.#begin(event.generation, event.message);
    if (this.#waiting) {
      this.#waiting.push(event);
      return;
    }
    if (event.seq <= this.#lastSeq) return;
    if (event.seq !== this.#lastSeq + 1) {
      this.#waiting = [event];
      void this.#resync();
      return;
    }
    this.#lastSeq = event.seq;
    this.#apply(event);
  }

  /** Joins an answer that began before the page was there. */
  async join(generation: number, message: number): Promise<void> {
    if (this.running?.generation === generation || generation <= this.#lastFinished) return;
    this.#begin(generation, message, '');
    this.#waiting = [];
    await this.#resync();
  }

  async stop(): Promise<void> {
    const running = this.running;
    if (!running) return;
    try {
      await this.backend.invoke('generation_stop', running.generation);
    } catch (thrown) {
      // It may have ended by itself in the meantime.
      if (toIpcError(thrown).code !== 'not_found') throw thrown;
    }
  }

  #begin(generation: number, message: number, prefix = this.textOf(message)): void {
    this.#cancelFrame?.();
    this.#cancelFrame = null;
    this.running = { generation, message, phase: 'reading', promptTokens: 0, cachedTokens: 0, doneTokens: 0 };
    this.stats = null;
    this.#prefix = prefix;
    this.#text = prefix;
    this.#pending = '';
    this.#deltas = 0;
    this.#lastSeq = -1;
    this.#waiting = null;
    this.probe.begin();
  }

  #apply(event: GenerationEvent): void {
    const running = this.running;
    if (!running) return;
    switch (event.kind) {
      case 'started':
        this.running = {
          ...running,
          promptTokens: event.promptTokens,
          cachedTokens: event.cachedTokens,
          doneTokens: event.cachedTokens,
        };
        break;
      case 'progress':
        this.running = { ...running, promptTokens: event.totalTokens, doneTokens: event.doneTokens };
        break;
      case 'delta':
        if (running.phase === 'reading') this.running = { ...running, phase: 'writing' };
        this.#append(event.text);
        this.probe.delta(event.engineMs);
        break;
      case 'usage':
        this.stats = event.stats;
        break;
      case 'done':
        this.#finish(event.reason, event.stats, null);
        break;
      case 'failed':
        this.#finish('failed', this.stats, event.error);
        break;
    }
  }

  #append(text: string): void {
    this.#pending += text;
    this.#deltas += 1;
    if (this.#deltas === 1) this.#flush();
    else this.#cancelFrame ??= this.clock.frame(() => this.#flush());
  }

  #flush(): void {
    this.#cancelFrame?.();
    this.#cancelFrame = null;
    if (this.#pending === '') return;
    const added = this.#pending;
    this.#pending = '';
    this.#text += added;
    for (const listener of this.#listeners) listener(added);
  }

  #finish(state: MessageState, stats: MessageStats | null, error: IpcError | null): void {
    const running = this.running;
    if (!running) return;
    this.#flush();
    this.#lastFinished = running.generation;
    this.running = null;
    this.probe.end();
    this.onFinished({
      generation: running.generation,
      message: running.message,
      text: this.#text,
      state,
      stats,
      error,
    });
  }

  async #resync(): Promise<void> {
    const running = this.running;
    if (!running) return;
    try {
      const snapshot = await this.backend.invoke('generation_snapshot', running.generation);
      if (this.running?.generation !== running.generation) return;
      this.#replace(snapshot.text);
      this.stats = snapshot.stats;
      this.running = { ...running, phase: snapshot.text === '' ? 'reading' : 'writing' };
      this.#lastSeq = snapshot.seq;
      if (snapshot.state !== 'streaming') {
        this.#waiting = null;
        this.#finish(snapshot.state, snapshot.stats, null);
        return;
      }
    } catch (thrown) {
      this.#finish('failed', this.stats, toIpcError(thrown));
      this.#waiting = null;
      return;
    }
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const event of waiting) this.receive(event);
  }

  #replace(text: string): void {
    this.#cancelFrame?.();
    this.#cancelFrame = null;
    this.#pending = '';
    // A continued answer may report its own words alone or with those that were there before.
    const whole = this.#prefix !== '' && !text.startsWith(this.#prefix) ? this.#prefix + text : text;
    if (whole.startsWith(this.#text)) {
      const added = whole.slice(this.#text.length);
      this.#text = whole;
      if (added !== '') for (const listener of this.#listeners) listener(added);
      return;
    }
    this.#text = whole;
    for (const listener of this.#listeners) listener(null);
  }
}
