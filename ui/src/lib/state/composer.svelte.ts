import type { Accepted, Backend, IpcError, PromptCheck, Remedy, SendRequest } from '$lib/ipc';
import { toIpcError } from '$lib/ipc';
import type { Clock } from './clock';
import { Debounced } from './debounced';

const CHECK_DELAY_MS = 150;
const SAVE_DELAY_MS = 400;

/** WebKit lays a text box out whole at every keystroke: a megabyte costs more than a second each time. */
const FOLD_ABOVE_CHARACTERS = 30_000;

/** What the composer needs to know of the rest of the page. */
export interface ComposerSurroundings {
  conversation(): number | null;
  generating(): boolean;
  modelReady(): boolean;
  /** The loaded model only continues text. */
  base(): boolean;
  accepted(accepted: Accepted): Promise<void>;
}

/** Refusals that need no words beside the composer: the page shows them by its own state. */
const QUIET = new Set<IpcError['code']>(['empty_prompt', 'busy', 'no_model']);

/** What the user is writing, what it would cost, and whether it may go. */
export class ComposerState {
  text = $state('');
  /** Answer limit for the next send only. */
  outputOverride = $state<number | null>(null);
  check = $state.raw<PromptCheck | null>(null);
  /** The check is older than the text. */
  stale = $state(false);
  sending = $state(false);
  /** Why the last send was refused or failed. */
  failure = $state.raw<IpcError | null>(null);
  /** Part of the text that the view should select. */
  selection = $state.raw<{ start: number; end: number } | null>(null);

  /** The user wants to edit a long text all the same. */
  unfolded = $state(false);
  /** What Remove took away, until the next edit. */
  removed = $state.raw<string | null>(null);

  #request = 0;
  #saved = '';
  #checker: Debounced;
  #saver: Debounced;

  constructor(
    private readonly backend: Backend,
    clock: Clock,
    private readonly around: ComposerSurroundings,
  ) {
    this.#checker = new Debounced(clock, CHECK_DELAY_MS, () => this.#ask());
    this.#saver = new Debounced(clock, SAVE_DELAY_MS, () => this.#save());
  }

  /** Is the text so long that the view shows an excerpt instead of a text box? */
  get folded(): boolean {
    return this.text.length > FOLD_ABOVE_CHARACTERS && !this.unfolded;
  }

  get blank(): boolean {
    return this.text.trim() === '';
  }

  /** The refusal that stands in the way of Send, if there is one to explain. */
  get refusal(): IpcError | null {
    if (this.blank || this.around.generating()) return null;
    const refusal = this.check?.allowed === false ? this.check.refusal : null;
    if (!refusal || QUIET.has(refusal.code)) return null;
    if (refusal.code === 'no_template' && this.around.base()) return null;
    return refusal;
  }

  get remedies(): Remedy[] {
    return this.refusal ? (this.check?.remedies ?? []) : [];
  }

  get canSend(): boolean {
    return (
      !this.blank &&
      !this.sending &&
      this.around.modelReady() &&
      !this.around.generating() &&
      this.refusal === null
    );
  }

  /** Takes over the saved draft. */
  restore(text: string): void {
    this.text = text;
    this.#saved = text;
    this.recheck();
  }

  /** The conversation changed under the draft, which stays: save it there too. */
  moveDraft(): void {
    this.#saved = '';
    this.#saver.schedule();
    this.recheck();
  }

  setText(text: string): void {
    if (text === this.text) return;
    this.text = text;
    if (text.length <= FOLD_ABOVE_CHARACTERS) this.unfolded = false;
    this.removed = null;
    this.failure = null;
    this.stale = true;
    this.#checker.schedule();
    this.#saver.schedule();
  }

  /** Something outside the text changed: ask again, soon. */
  recheck(): void {
    this.stale = true;
    this.#checker.schedule();
  }

  setOutputOverride(tokens: number | null): Promise<void> {
    this.outputOverride = tokens;
    this.stale = true;
    return this.#checker.flush();
  }

  /** Selects what does not fit, so that the user decides what goes. */
  selectFrom(start: number): void {
    this.unfolded = true;
    this.selection = { start, end: this.text.length };
  }

  /** Puts a text in place of a part, as a paste does. */
  splice(start: number, end: number, inserted: string): void {
    this.setText(this.text.slice(0, start) + inserted + this.text.slice(end));
  }

  /** Empties the composer; `putBack` undoes it. */
  remove(): void {
    const text = this.text;
    this.setText('');
    this.removed = text;
  }

  putBack(): void {
    if (this.removed !== null) this.setText(this.removed);
  }

  /** Sends the text. It leaves the composer only when the backend has accepted it. */
  async send(): Promise<boolean> {
    // The count may be older than the last keystroke; a refusal must not rest on an old count.
    if (this.stale && this.refusal !== null) await this.#checker.flush();
    if (!this.canSend) return false;
    const text = this.text;
    const accepted = await this.submit({ text, completion: this.around.base() });
    if (!accepted) return false;
    if (this.text === text) this.text = '';
    else if (this.text.startsWith(text)) this.text = this.text.slice(text.length);
    this.#saver.cancel();
    await this.#saver.flush();
    return true;
  }

  /** Any send: the composer's text, an edit, a regeneration, a continuation. */
  async submit(request: Partial<SendRequest>): Promise<boolean> {
    const conversation = this.around.conversation();
    if (conversation === null || this.sending) return false;
    this.sending = true;
    this.failure = null;
    try {
      const accepted = await this.backend.invoke('generation_send', {
        conversation,
        text: '',
        outputTokens: this.outputOverride,
        regenerate: null,
        edit: null,
        completion: false,
        ...request,
      });
      this.outputOverride = null;
      await this.around.accepted(accepted);
      return true;
    } catch (thrown) {
      this.failure = toIpcError(thrown);
      void this.#checker.flush();
      return false;
    } finally {
      this.sending = false;
      this.recheck();
    }
  }

  /** Saves the draft now, for example before the page goes. */
  flushDraft(): Promise<void> {
    return this.#saver.flush();
  }

  async #ask(): Promise<void> {
    const conversation = this.around.conversation();
    if (conversation === null) return;
    const text = this.text;
    const request = ++this.#request;
    try {
      const check = await this.backend.invoke('prompt_check', {
        conversation,
        draft: text,
        outputTokens: this.outputOverride,
        request,
      });
      if (check.request !== this.#request) return;
      this.check = check;
    } catch {
      // No count is better than a wrong one; Send asks the backend again in any case.
      if (request === this.#request) this.check = null;
    }
    if (this.text === text) this.stale = false;
  }

  async #save(): Promise<void> {
    const conversation = this.around.conversation();
    const text = this.text;
    if (conversation === null || text === this.#saved) return;
    try {
      await this.backend.invoke('draft_save', { conversation, text });
      this.#saved = text;
    } catch (thrown) {
      void this.backend
        .invoke('log_ui', `draft not saved: ${toIpcError(thrown).message}`)
        .catch(() => undefined);
    }
  }
}
