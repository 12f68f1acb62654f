/** Time as the states see it, so that tests can move it. */
export interface Clock {
  now(): number;
  /** Runs once after `ms`; the returned function cancels. */
  after(ms: number, run: () => void): () => void;
  /** Runs once before the next paint; the returned function cancels. */
  frame(run: () => void): () => void;
}

const HIDDEN_FRAME_MS = 100;

export const browserClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  frame(run) {
    // A hidden page gets no animation frames, and an answer must still reach its end there.
    if (document.hidden) return browserClock.after(HIDDEN_FRAME_MS, run);
    const frame = requestAnimationFrame(run);
    return () => cancelAnimationFrame(frame);
  },
};
