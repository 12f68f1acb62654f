import type { Backend, IpcError, ModelStatus, Settings, SettingsPreview } from '$lib/ipc';
import { toIpcError } from '$lib/ipc';
import type { Clock } from './clock';
import { Debounced } from './debounced';

const PREVIEW_DELAY_MS = 120;

/** The settings in force, and the panel's draft with what it would cost. */
export class SettingsState {
  current = $state.raw<Settings | null>(null);
  draft = $state.raw<Settings | null>(null);
  preview = $state.raw<SettingsPreview | null>(null);
  /** The preview is older than the draft. */
  pricing = $state(false);
  applying = $state(false);
  /** Why the draft was refused. */
  failure = $state.raw<IpcError | null>(null);
  /** Told of the model's state after settings were applied. */
  onApplied: (status: ModelStatus) => void = () => undefined;
  #price: Debounced;

  constructor(
    private readonly backend: Backend,
    clock: Clock,
  ) {
    this.#price = new Debounced(clock, PREVIEW_DELAY_MS, () => this.#preview());
  }

  get changed(): boolean {
    const { current, draft } = this;
    if (!current || !draft) return false;
    return (Object.keys(draft) as (keyof Settings)[]).some((key) => draft[key] !== current[key]);
  }

  /** Would applying the draft be refused as far as the preview knows? */
  get fits(): boolean {
    return this.preview?.plan.fits ?? true;
  }

  accept(settings: Settings): void {
    this.current = settings;
  }

  async refresh(): Promise<void> {
    this.accept(await this.backend.invoke('settings_get'));
  }

  /** Starts a draft from what is in force. */
  open(): void {
    this.draft = this.current ? { ...this.current } : null;
    this.preview = null;
    this.failure = null;
    this.pricing = true;
    void this.#price.flush();
  }

  close(): void {
    this.#price.cancel();
    this.draft = null;
    this.preview = null;
    this.failure = null;
  }

  change(change: Partial<Settings>): void {
    if (!this.draft) return;
    this.draft = { ...this.draft, ...change };
    this.failure = null;
    this.pricing = true;
    this.#price.schedule();
  }

  /** Applies the draft. On refusal the draft stays, with the reason. */
  async apply(): Promise<boolean> {
    if (!this.draft) return false;
    return this.applyNow(this.draft);
  }

  /** Applies a change without the panel: a remedy, the theme, the language. */
  async applyChange(change: Partial<Settings>): Promise<boolean> {
    if (!this.current) return false;
    return this.applyNow({ ...this.current, ...change });
  }

  private async applyNow(settings: Settings): Promise<boolean> {
    this.applying = true;
    this.failure = null;
    try {
      const status = await this.backend.invoke('settings_apply', $state.snapshot(settings));
      this.current = settings;
      this.onApplied(status);
      return true;
    } catch (thrown) {
      this.failure = toIpcError(thrown);
      return false;
    } finally {
      this.applying = false;
    }
  }

  async #preview(): Promise<void> {
    const asked = this.draft;
    if (!asked) return;
    try {
      const preview = await this.backend.invoke('settings_preview', $state.snapshot(asked));
      if (this.draft !== asked) return;
      this.preview = preview;
    } catch (thrown) {
      if (this.draft !== asked) return;
      this.preview = null;
      const error = toIpcError(thrown);
      // Without a model there is nothing to price; the panel says so in its own words.
      this.failure = error.code === 'no_model' ? null : error;
    }
    this.pricing = false;
  }
}
