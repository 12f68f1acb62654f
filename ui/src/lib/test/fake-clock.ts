import type { Clock } from '$lib/state/clock';

interface Job {
  at: number;
  run: () => void;
}

/** A clock that moves only when a test moves it. */
export class FakeClock implements Clock {
  #now = 0;
  #jobs: Job[] = [];
  #frames: (() => void)[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const job = { at: this.#now + ms, run };
    this.#jobs.push(job);
    return () => {
      this.#jobs = this.#jobs.filter((other) => other !== job);
    };
  }

  frame(run: () => void): () => void {
    this.#frames.push(run);
    return () => {
      this.#frames = this.#frames.filter((other) => other !== run);
    };
  }

  /** Moves on, running what is due in order, and lets promises settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const due = this.#jobs.filter((job) => job.at <= end).sort((left, right) => left.at - right.at)[0];
      if (!due) break;
      this.#jobs = this.#jobs.filter((job) => job !== due);
      this.#now = due.at;
      due.run();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  /** Paints one frame. */
  paint(): void {
    const frames = this.#frames;
    this.#frames = [];
    for (const run of frames) run();
  }

  get waitingFrames(): number {
    return this.#frames.length;
  }
}

/** Lets pending promises run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
