import type { AppInfo, Backend, DoctorReport, IpcError, MessageView, ModelStatus } from '$lib/ipc';
import { toIpcError } from '$lib/ipc';
import type { Clock } from './clock';
import { ComposerState } from './composer.svelte';
import { ConversationState } from './conversation.svelte';
import type { Finished, StreamProbe } from './generation.svelte';
import { GenerationState } from './generation.svelte';
import { MemoryState } from './memory.svelte';
import { ModelsState } from './models.svelte';
import { SettingsState } from './settings.svelte';
import { ShellState } from './shell.svelte';

/** Everything that the page shows, joined to the backend's events. */
export class Session {
  readonly shell = new ShellState();
  readonly settings: SettingsState;
  readonly models: ModelsState;
  readonly memory: MemoryState;
  readonly conversation: ConversationState;
  readonly generation: GenerationState;
  readonly composer: ComposerState;
  info = $state.raw<AppInfo | null>(null);
  doctor = $state.raw<DoctorReport | null>(null);
  doctorFailure = $state.raw<IpcError | null>(null);
  ready = $state(false);
  /** The backend did not answer at start. */
  startFailure = $state.raw<IpcError | null>(null);
  /** The last answer that ended, for announcements. */
  lastFinished = $state.raw<Finished | null>(null);

  constructor(
    readonly backend: Backend,
    clock: Clock,
    probe: StreamProbe,
  ) {
    this.settings = new SettingsState(backend, clock);
    this.models = new ModelsState(backend, clock);
    this.memory = new MemoryState(backend);
    this.conversation = new ConversationState(backend);
    this.generation = new GenerationState(
      backend,
      clock,
      probe,
      (message) => this.conversation.message(message)?.text ?? '',
    );
    this.composer = new ComposerState(backend, clock, {
      conversation: () => this.conversation.id,
      generating: () => this.generation.running !== null,
      modelReady: () => this.models.ready !== null,
      base: () => this.models.base,
      accepted: (accepted) => this.conversation.show(accepted),
    });
    this.generation.onFinished = (finished) => {
      this.conversation.finish(finished);
      this.lastFinished = finished;
      this.composer.recheck();
    };
    this.settings.onApplied = (status) => this.#modelChanged(status);
  }

  /** Model events heard so far. */
  #modelEvents = 0;

  /** Listens first and asks second, so that no change falls between. */
  async start(): Promise<void> {
    try {
      await Promise.all([
        this.backend.listen('generation', (event) => this.generation.receive(event)),
        this.backend.listen('memory', (gauge) => this.memory.apply(gauge)),
        this.backend.listen('model_status', (status) => {
          this.#modelEvents += 1;
          this.#modelChanged(status);
        }),
        this.backend.listen('conversation', (view) => {
          this.conversation.apply(view);
          this.composer.recheck();
        }),
        this.backend.listen('settings', (settings) => {
          this.settings.accept(settings);
          this.composer.recheck();
        }),
      ]);
      const heard = this.#modelEvents;
      const [info, status] = await Promise.all([
        this.backend.invoke('app_info'),
        this.backend.invoke('model_status'),
        this.settings.refresh(),
        this.models.refresh(),
        this.memory.refresh(),
        this.conversation.refresh(),
      ]);
      this.info = info;
      // An event that came while this was asked is newer than the answer.
      if (heard === this.#modelEvents) this.models.apply(status);
      const view = this.conversation.view;
      if (view) this.composer.restore(view.draft);
      const streaming = view?.messages.find((message) => message.state === 'streaming');
      if (view?.generation && streaming) await this.generation.join(view.generation, streaming.id);
      this.ready = true;
    } catch (thrown) {
      this.startFailure = toIpcError(thrown);
    }
  }

  /** A new conversation that keeps the draft. */
  async newConversation(): Promise<void> {
    if (this.generation.running) await this.generation.stop();
    await this.composer.flushDraft();
    if (!(await this.conversation.startNew())) return;
    this.shell.editing = null;
    this.shell.focusComposer += 1;
    this.composer.moveDraft();
    await this.memory.refresh();
  }

  async selectSibling(message: number, sibling: number): Promise<void> {
    await this.conversation.selectSibling(message, sibling);
    this.composer.recheck();
  }

  async drop(messages: number[], dropped: boolean): Promise<void> {
    await this.conversation.drop(messages, dropped);
    this.composer.recheck();
  }

  /** Another answer to the question that this message answers. */
  async regenerate(answer: MessageView): Promise<void> {
    if (answer.parent === null) return;
    await this.composer.submit({ regenerate: answer.parent, completion: this.models.base });
  }

  /** Sends an edited question as a sibling of the old one. */
  async edit(message: MessageView, text: string): Promise<boolean> {
    const sent = await this.composer.submit({ edit: message.id, text, completion: this.models.base });
    if (sent) this.shell.editing = null;
    return sent;
  }

  /** Lets the last answer go on where it was cut. */
  async continueAnswer(): Promise<void> {
    await this.composer.submit({ completion: true });
  }

  async loadModel(id: string): Promise<void> {
    await this.models.load(id);
    await this.settings.refresh();
  }

  async importModel(): Promise<void> {
    const entry = await this.models.importFile();
    if (entry && !entry.problem) await this.loadModel(entry.id);
  }

  async openDoctor(): Promise<void> {
    this.shell.panel = 'doctor';
    this.doctorFailure = null;
    try {
      this.doctor = await this.backend.invoke('doctor');
    } catch (thrown) {
      this.doctorFailure = toIpcError(thrown);
    }
  }

  /** Writes to the backend's log file. The log is the last resort, so its own failure is dropped. */
  log(line: string): void {
    void this.backend.invoke('log_ui', line).catch(() => undefined);
  }

  #modelChanged(status: ModelStatus): void {
    const before = this.models.status.state;
    this.models.apply(status);
    if (status.state !== before || status.state === 'ready') this.composer.recheck();
  }
}
