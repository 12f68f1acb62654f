import type { Clock } from './clock';

/**
 * Runs a job once input has been quiet for a while, and never twice at the same time: a call that arrives during
 * a run is answered by one more run after it. So a slow backend sees at most one request of this kind.
 */
export class Debounced {
  #cancelTimer: (() => void) | null = null;
  #running: Promise<void> | null = null;
  #again = false;

  constructor(
    private readonly clock: Clock,
    private readonly delayMs: number,
    private readonly job: () => Promise<void>,
  ) {}

  /** Runs the job after the quiet time, counted from now. */
  schedule(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.clock.after(this.delayMs, () => void this.flush());
  }

  /** Runs the job at once and resolves when nothing is left to do. The job handles its own errors. */
  async flush(): Promise<void> {
    this.cancel();
    if (this.#running) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#drain();
    return this.#running;
  }

  /** Forgets a scheduled run; one in progress goes on. */
  cancel(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  async #drain(): Promise<void> {
    try {
      do {
        this.#again = false;
        await this.job();
      } while (this.#again);
    } finally {
      this.#running = null;
    }
  }
}
