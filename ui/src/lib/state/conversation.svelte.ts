import type { Accepted, Backend, ConversationView, IpcError, MessageView } from '$lib/ipc';
import { toIpcError } from '$lib/ipc';
import type { Finished } from './generation.svelte';

/** The conversation on screen. The backend keeps the truth; this is its last view plus what has streamed since. */
export class ConversationState {
  view = $state.raw<ConversationView | null>(null);
  /** Why an answer failed, by message. */
  failures = $state.raw<Readonly<Record<number, IpcError>>>({});
  /** Why the last action on the conversation was refused. */
  failure = $state.raw<IpcError | null>(null);

  constructor(private readonly backend: Backend) {}

  get id(): number | null {
    return this.view?.id ?? null;
  }

  get messages(): MessageView[] {
    return this.view?.messages ?? [];
  }

  message(id: number): MessageView | undefined {
    return this.messages.find((message) => message.id === id);
  }

  apply(view: ConversationView): void {
    if (view.id !== this.view?.id) this.failures = {};
    this.view = view;
  }

  async refresh(): Promise<void> {
    this.apply(await this.backend.invoke('conversation_get'));
  }

  /** Makes sure that an accepted turn is on screen, also when its `conversation` event has not come. */
  async show(accepted: Accepted): Promise<void> {
    if (!this.message(accepted.answerMessage)) await this.refresh();
  }

  /** Writes the end of a stream into the view. */
  finish(finished: Finished): void {
    if (finished.error) this.failures = { ...this.failures, [finished.message]: finished.error };
    if (!this.view) return;
    const messages = this.view.messages.map((message) =>
      message.id === finished.message
        ? { ...message, text: finished.text, state: finished.state, stats: finished.stats ?? message.stats }
        : message,
    );
    this.view = { ...this.view, messages, generation: null };
  }

  async startNew(): Promise<boolean> {
    return this.#run(() => this.backend.invoke('conversation_new'));
  }

  async selectSibling(message: number, sibling: number): Promise<boolean> {
    const conversation = this.id;
    if (conversation === null) return false;
    return this.#run(() =>
      this.backend.invoke('conversation_select_sibling', { conversation, message, sibling }),
    );
  }

  /** Leaves messages out of the prompt, or takes them back. */
  async drop(messages: number[], dropped: boolean): Promise<boolean> {
    const conversation = this.id;
    if (conversation === null) return false;
    return this.#run(() =>
      this.backend.invoke('conversation_drop_messages', { conversation, messages, dropped }),
    );
  }

  async #run(command: () => Promise<ConversationView>): Promise<boolean> {
    this.failure = null;
    try {
      this.apply(await command());
      return true;
    } catch (thrown) {
      this.failure = toIpcError(thrown);
      return false;
    }
  }
}
