/** What lies over the page: at most one dialog, and the link that waits for a yes. */
export class ShellState {
  panel = $state<'settings' | 'doctor' | null>(null);
  link = $state<string | null>(null);
  /** Counts up when the composer should take the focus. */
  focusComposer = $state(0);
  /** The user message that is being edited. */
  editing = $state<number | null>(null);
}
