import type { Backend, IpcError, ModelEntry, ModelStatus } from '$lib/ipc';
import { toIpcError } from '$lib/ipc';
import type { Clock } from './clock';

/** How fast a load goes. */
export interface LoadPace {
  bytesPerSecond: number;
  secondsLeft: number;
}

/** A pace measured over less than this says more about noise than about the disk. */
const PACE_AFTER_MS = 400;

export class ModelsState {
  list = $state.raw<ModelEntry[]>([]);
  status = $state.raw<ModelStatus>({ state: 'empty' });
  pace = $state.raw<LoadPace | null>(null);
  /** Why the last load or import was refused. */
  failure = $state.raw<IpcError | null>(null);
  importing = $state(false);
  #loadStart: { model: string; at: number; bytes: number } | null = null;

  constructor(
    private readonly backend: Backend,
    private readonly clock: Clock,
  ) {}

  /** The model that answers, if one is loaded. */
  get ready(): Extract<ModelStatus, { state: 'ready' }> | null {
    return this.status.state === 'ready' ? this.status : null;
  }

  /** Does the loaded model only continue text? */
  get base(): boolean {
    return this.ready?.model.chat === false;
  }

  entry(id: string): ModelEntry | undefined {
    return this.list.find((entry) => entry.id === id);
  }

  apply(status: ModelStatus): void {
    this.#measure(status);
    this.status = status;
    if (status.state === 'ready') this.failure = null;
  }

  async refresh(): Promise<void> {
    this.list = await this.backend.invoke('models_list');
  }

  async load(id: string): Promise<void> {
    this.failure = null;
    try {
      this.apply(await this.backend.invoke('model_load', id));
    } catch (thrown) {
      this.failure = toIpcError(thrown);
      this.apply(await this.backend.invoke('model_status'));
    }
  }

  /** Opens the system's file dialog; the chosen file joins the list. Returns it, or `null` when dismissed. */
  async importFile(): Promise<ModelEntry | null> {
    this.failure = null;
    this.importing = true;
    try {
      const entry = await this.backend.invoke('model_import_dialog');
      if (entry) await this.refresh();
      return entry;
    } catch (thrown) {
      this.failure = toIpcError(thrown);
      return null;
    } finally {
      this.importing = false;
    }
  }

  #measure(status: ModelStatus): void {
    if (status.state !== 'loading') {
      this.#loadStart = null;
      this.pace = null;
      return;
    }
    const now = this.clock.now();
    if (this.#loadStart?.model !== status.model || status.doneBytes < this.#loadStart.bytes) {
      this.#loadStart = { model: status.model, at: now, bytes: status.doneBytes };
      this.pace = null;
      return;
    }
    const elapsed = now - this.#loadStart.at;
    const read = status.doneBytes - this.#loadStart.bytes;
    if (elapsed < PACE_AFTER_MS || read <= 0) return;
    const bytesPerSecond = (read / elapsed) * 1000;
    this.pace = { bytesPerSecond, secondsLeft: (status.totalBytes - status.doneBytes) / bytesPerSecond };
  }
}
