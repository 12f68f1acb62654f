import { describe, expect, it, vi } from 'vitest';

import type { GenerationEvent, GenerationKind, GenerationSnapshot, MessageStats } from '$lib/ipc';
import type { Backend } from '$lib/ipc';
import { FakeClock, settle } from '$lib/test/fake-clock';
import type { Finished } from './generation.svelte';
import { GenerationState } from './generation.svelte';

const STATS: MessageStats = {
  promptTokens: 10,
  cachedTokens: 4,
  outputTokens: 3,
  firstTokenMs: 20,
  tokensPerSecond: 50,
  prefillTokensPerSecond: 900,
};

function event(seq: number, kind: GenerationKind, generation = 7): GenerationEvent {
  return { generation, conversation: 1, message: 3, seq, ...kind };
}

const delta = (text: string): GenerationKind => ({ kind: 'delta', text, engineMs: 0 });
const started: GenerationKind = { kind: 'started', promptTokens: 10, cachedTokens: 4 };

function setUp(snapshot: Partial<GenerationSnapshot> = {}, textOf = '') {
  const clock = new FakeClock();
  const asked: number[] = [];
  const backend = {
    invoke: async (name: string, id: number) => {
      if (name !== 'generation_snapshot') throw new Error(name);
      asked.push(id);
      return { generation: 7, message: 3, seq: 0, text: '', state: 'streaming', stats: STATS, ...snapshot };
    },
    listen: async () => () => undefined,
  } as unknown as Backend;
  const probe = { begin: vi.fn(), delta: vi.fn(), end: vi.fn() };
  const generation = new GenerationState(backend, clock, probe, () => textOf);
  const heard: (string | null)[] = [];
  generation.subscribe((added) => heard.push(added));
  const finished: Finished[] = [];
  generation.onFinished = (end) => finished.push(end);
  return { clock, generation, heard, finished, asked, probe };
}

describe('GenerationState', () => {
  it('hands the first delta on at once and joins the others per frame', () => {
    const { clock, generation, heard } = setUp();
    generation.receive(event(0, started));
    generation.receive(event(1, delta('Hel')));
    expect(heard).toEqual(['Hel']);
    generation.receive(event(2, delta('lo')));
    generation.receive(event(3, delta(' there')));
    expect(heard).toEqual(['Hel']);
    expect(clock.waitingFrames).toBe(1);
    clock.paint();
    expect(heard).toEqual(['Hel', 'lo there']);
    expect(generation.text).toBe('Hello there');
  });

  it('shows prefill until the first delta', () => {
    const { generation } = setUp();
    generation.receive(event(0, started));
    expect(generation.running).toMatchObject({ phase: 'reading', promptTokens: 10, doneTokens: 4 });
    generation.receive(event(1, { kind: 'progress', doneTokens: 8, totalTokens: 10 }));
    expect(generation.running?.doneTokens).toBe(8);
    generation.receive(event(2, delta('x')));
    expect(generation.running?.phase).toBe('writing');
  });

  it('flushes what waits before it reports the end', () => {
    const { generation, finished, heard, probe } = setUp();
    generation.receive(event(0, started));
    generation.receive(event(1, delta('a')));
    generation.receive(event(2, delta('b')));
    generation.receive(event(3, { kind: 'done', reason: 'length', stats: STATS }));
    expect(heard.join('')).toBe('ab');
    expect(finished).toEqual([
      { generation: 7, message: 3, text: 'ab', state: 'length', stats: STATS, error: null },
    ]);
    expect(generation.running).toBeNull();
    expect(probe.end).toHaveBeenCalledOnce();
  });

  it('keeps the text of a failed answer', () => {
    const { generation, finished } = setUp();
    generation.receive(event(0, started));
    generation.receive(event(1, delta('part')));
    const error = { code: 'out_of_memory' as const, message: '', detail: null, numbers: {} };
    generation.receive(event(2, { kind: 'failed', error }));
    expect(finished[0]).toMatchObject({ text: 'part', state: 'failed', error });
  });

  it('asks for a snapshot after a gap, and repeats nothing that the snapshot holds', async () => {
    const { generation, heard, asked, clock } = setUp({ seq: 4, text: 'one two three' });
    generation.receive(event(0, started));
    generation.receive(event(1, delta('one')));
    generation.receive(event(4, delta(' three')));
    generation.receive(event(5, delta(' four')));
    await settle();
    clock.paint();
    expect(asked).toEqual([7]);
    expect(generation.text).toBe('one two three four');
    expect(heard.join('')).toBe('one two three four');
  });

  it('replaces the text when the snapshot disagrees with what was shown', async () => {
    const { generation, heard } = setUp({ seq: 3, text: 'other' });
    generation.receive(event(0, started));
    generation.receive(event(1, delta('one')));
    generation.receive(event(3, delta('x')));
    await settle();
    expect(heard.at(-1)).toBeNull();
    expect(generation.text).toBe('other');
  });

  it('ignores events that were already applied, and any of an answer that has ended', () => {
    const { generation } = setUp();
    generation.receive(event(0, started));
    generation.receive(event(1, delta('a')));
    generation.receive(event(1, delta('a')));
    expect(generation.text).toBe('a');
    generation.receive(event(2, { kind: 'done', reason: 'done', stats: STATS }));
    generation.receive(event(3, delta('late')));
    expect(generation.running).toBeNull();
    expect(generation.text).toBe('a');
  });

  it('joins a running answer after a reload', async () => {
    const { generation, heard } = setUp({ seq: 9, text: 'so far' });
    const joined = generation.join(7, 3);
    generation.receive(event(10, delta(' and on')));
    await joined;
    expect(generation.text).toBe('so far and on');
    expect(heard.join('')).toBe('so far and on');
  });

  it('ends at once when the snapshot says that the answer has ended', async () => {
    const { generation, finished } = setUp({ seq: 9, text: 'all of it', state: 'stopped' });
    await generation.join(7, 3);
    expect(finished[0]).toMatchObject({ text: 'all of it', state: 'stopped' });
  });

  it('continues the text that the message holds', async () => {
    const { generation } = setUp({ seq: 3, text: 'Once upon a time' }, 'Once upon');
    generation.receive(event(0, started));
    generation.receive(event(1, delta(' a')));
    expect(generation.text).toBe('Once upon a');
    generation.receive(event(3, delta('ime')));
    await settle();
    expect(generation.text).toBe('Once upon a time');
  });

  it('starts over for the next answer', () => {
    const { generation } = setUp();
    generation.receive(event(0, started));
    generation.receive(event(1, delta('first')));
    generation.receive(event(2, { kind: 'done', reason: 'done', stats: STATS }));
    generation.receive(event(0, started, 8));
    generation.receive(event(1, delta('second'), 8));
    expect(generation.text).toBe('second');
  });
});
