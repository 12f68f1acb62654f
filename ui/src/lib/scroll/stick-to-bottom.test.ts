import { describe, expect, it } from 'vitest';

import { ScrollAttribution } from './stick-to-bottom';

describe('ScrollAttribution', () => {
  it('knows its own writes by their value', () => {
    const scroll = new ScrollAttribution();
    scroll.wrote(500);
    expect(scroll.scrolled(500.5, 0)).toBe(false);
    expect(scroll.pinned).toBe(true);
  });

  it('lets go when the reader moves up', () => {
    const scroll = new ScrollAttribution();
    scroll.wrote(500);
    scroll.scrolled(500, 0);
    expect(scroll.scrolled(480, 20)).toBe(true);
    expect(scroll.pinned).toBe(false);
  });

  it('lets go also when the reader moves between a write and its event', () => {
    const scroll = new ScrollAttribution();
    scroll.wrote(500);
    scroll.scrolled(440, 60);
    expect(scroll.pinned).toBe(false);
  });

  it('stays through a twitch of less than three pixels', () => {
    const scroll = new ScrollAttribution();
    scroll.wrote(500);
    scroll.scrolled(500, 0);
    scroll.scrolled(498, 2);
    expect(scroll.pinned).toBe(true);
  });

  it('comes back near the end, but only downwards', () => {
    const scroll = new ScrollAttribution();
    scroll.wrote(500);
    scroll.scrolled(500, 0);
    scroll.scrolled(470, 30);
    expect(scroll.pinned).toBe(false);
    scroll.scrolled(460, 40);
    expect(scroll.pinned).toBe(false);
    scroll.scrolled(465, 35);
    expect(scroll.pinned).toBe(true);
  });

  it('stays when the transcript becomes shorter and is clamped to its end', () => {
    const scroll = new ScrollAttribution();
    scroll.wrote(500);
    scroll.scrolled(500, 0);
    scroll.scrolled(300, 0);
    expect(scroll.pinned).toBe(true);
  });
});
