// Keeps the end of a growing transcript in view until the reader moves away. A position that we wrote ourselves is
// known by its value; every other movement is the reader's. No timers.

/** Moving up by this much is leaving. */
const LEAVE_PX = 3;
/** Coming this close to the end is coming back. */
const RETURN_PX = 60;

/** Decides whom a scroll belongs to. Pure, so that it can be tested without a page. */
export class ScrollAttribution {
  pinned = true;
  #expected: number | null = null;
  #last = 0;

  /** We are about to write this position. */
  wrote(top: number): void {
    this.#expected = top;
    this.#last = top;
  }

  /** A scroll event came. Returns whether it was the reader's. */
  scrolled(top: number, distanceToEnd: number): boolean {
    if (this.#expected !== null && Math.abs(top - this.#expected) <= 1) {
      this.#expected = null;
      this.#last = top;
      return false;
    }
    const moved = top - this.#last;
    this.#last = top;
    // A transcript that became shorter is clamped to its end: upwards, but nobody's doing.
    if (moved <= -LEAVE_PX && distanceToEnd > 1) this.pinned = false;
    else if (moved > 0 && distanceToEnd <= RETURN_PX) this.pinned = true;
    return true;
  }
}

export class StickToBottom {
  readonly #attribution = new ScrollAttribution();
  #observer: ResizeObserver | null = null;
  #frame = 0;

  constructor(
    private readonly viewport: HTMLElement,
    private readonly content: HTMLElement,
    private readonly onChange: (pinned: boolean) => void,
  ) {
    viewport.addEventListener('scroll', this.#scrolled, { passive: true });
    if (typeof ResizeObserver !== 'undefined') {
      this.#observer = new ResizeObserver(() => this.#follow());
      this.#observer.observe(content);
      this.#observer.observe(viewport);
    }
  }

  /** Goes to the end and stays there. */
  jump(): void {
    this.#attribution.pinned = true;
    this.onChange(true);
    this.#write();
  }

  /** Keeps what is in view where it is after content of this height came in above. */
  compensate(addedPx: number): void {
    const top = this.viewport.scrollTop + addedPx;
    this.#attribution.wrote(top);
    this.viewport.scrollTop = top;
  }

  destroy(): void {
    this.viewport.removeEventListener('scroll', this.#scrolled);
    this.#observer?.disconnect();
    cancelAnimationFrame(this.#frame);
  }

  #scrolled = (): void => {
    const { scrollTop, scrollHeight, clientHeight } = this.viewport;
    const before = this.#attribution.pinned;
    this.#attribution.scrolled(scrollTop, scrollHeight - clientHeight - scrollTop);
    if (this.#attribution.pinned !== before) this.onChange(this.#attribution.pinned);
  };

  #follow(): void {
    if (!this.#attribution.pinned || this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      if (this.#attribution.pinned && !this.#selecting()) this.#write();
    });
  }

  #selecting(): boolean {
    const selection = this.viewport.ownerDocument.getSelection();
    if (!selection || selection.isCollapsed || !selection.anchorNode) return false;
    return this.content.contains(selection.anchorNode);
  }

  #write(): void {
    const top = this.viewport.scrollHeight - this.viewport.clientHeight;
    if (Math.abs(top - this.viewport.scrollTop) <= 1) return;
    this.#attribution.wrote(top);
    this.viewport.scrollTop = top;
  }
}
