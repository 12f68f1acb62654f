import { describe, expect, it } from 'vitest';

import type { Accepted, Backend, IpcError, PromptCheck, PromptCheckRequest, SendRequest } from '$lib/ipc';
import { FakeClock, settle } from '$lib/test/fake-clock';
import { ComposerState } from './composer.svelte';

const EXCEEDED: IpcError = {
  code: 'context_exceeded',
  message: '',
  detail: null,
  numbers: { prompt: 900, output: 512, context: 1024, excess: 388 },
};

function checkFor(request: PromptCheckRequest, change: Partial<PromptCheck> = {}): PromptCheck {
  return {
    request: request.request,
    promptTokens: 30 + request.draft.length,
    draftTokens: request.draft.length,
    cachedTokens: 0,
    outputTokens: request.outputTokens ?? 512,
    contextTokens: 1024,
    reserveBytes: 1,
    allowed: true,
    refusal: null,
    remedies: [],
    ...change,
  };
}

function setUp() {
  const clock = new FakeClock();
  const checks: PromptCheckRequest[] = [];
  const sent: SendRequest[] = [];
  const drafts: string[] = [];
  const world = {
    answer: (request: PromptCheckRequest): PromptCheck => checkFor(request),
    hold: null as Promise<void> | null,
    sendError: null as IpcError | null,
    ready: true,
    generating: false,
    base: false,
  };
  const backend = {
    async invoke(name: string, args: never) {
      if (name === 'prompt_check') {
        checks.push(args);
        const answer = world.answer(args);
        await world.hold;
        return answer;
      }
      if (name === 'draft_save') return void drafts.push((args as { text: string }).text);
      if (name === 'generation_send') {
        if (world.sendError) throw world.sendError;
        sent.push(args);
        return { generation: 1, userMessage: 1, answerMessage: 2 } satisfies Accepted;
      }
      throw new Error(name);
    },
  } as unknown as Backend;
  const composer = new ComposerState(backend, clock, {
    conversation: () => 1,
    generating: () => world.generating,
    modelReady: () => world.ready,
    base: () => world.base,
    accepted: async () => undefined,
  });
  return { clock, checks, sent, drafts, world, composer };
}

describe('ComposerState', () => {
  it('counts 150 ms after the last keystroke', async () => {
    const { clock, composer, checks } = setUp();
    composer.setText('h');
    await clock.advance(100);
    composer.setText('hi');
    await clock.advance(149);
    expect(checks).toHaveLength(0);
    expect(composer.stale).toBe(true);
    await clock.advance(1);
    expect(checks.map((request) => request.draft)).toEqual(['hi']);
    expect(composer.check?.draftTokens).toBe(2);
    expect(composer.stale).toBe(false);
  });

  it('asks one question at a time and keeps no answer to an older one', async () => {
    const { clock, composer, checks, world } = setUp();
    let release = (): void => undefined;
    world.hold = new Promise((resolve) => (release = resolve));
    composer.setText('a');
    await clock.advance(150);
    composer.setText('ab');
    await clock.advance(150);
    composer.setText('abc');
    await clock.advance(150);
    expect(checks).toHaveLength(1);
    world.hold = null;
    release();
    await settle();
    expect(checks.map((request) => request.draft)).toEqual(['a', 'abc']);
    expect(composer.check?.draftTokens).toBe(3);
  });

  it('blocks Send with the reason, and lets go when it fits again', async () => {
    const { clock, composer, world } = setUp();
    world.answer = (request) => checkFor(request, { allowed: false, refusal: EXCEEDED });
    composer.setText('much too long');
    expect(composer.canSend).toBe(true);
    await clock.advance(150);
    expect(composer.refusal?.code).toBe('context_exceeded');
    expect(composer.canSend).toBe(false);
    world.answer = (request) => checkFor(request);
    composer.setText('short');
    expect(composer.canSend).toBe(false);
    await clock.advance(150);
    expect(composer.canSend).toBe(true);
  });

  it('checks again rather than refusing on an old count', async () => {
    const { clock, composer, world, sent } = setUp();
    world.answer = (request) => checkFor(request, { allowed: false, refusal: EXCEEDED });
    composer.setText('much too long');
    await clock.advance(150);
    world.answer = (request) => checkFor(request);
    composer.setText('short');
    expect(await composer.send()).toBe(true);
    expect(sent.map((request) => request.text)).toEqual(['short']);
  });

  it('sends, clears the box and the saved draft', async () => {
    const { clock, composer, sent, drafts } = setUp();
    composer.setText('hello');
    await clock.advance(500);
    expect(drafts).toEqual(['hello']);
    expect(await composer.send()).toBe(true);
    expect(sent).toEqual([
      { conversation: 1, text: 'hello', outputTokens: null, regenerate: null, edit: null, completion: false },
    ]);
    expect(composer.text).toBe('');
    expect(drafts).toEqual(['hello', '']);
  });

  it('keeps the draft when the send fails, and says why', async () => {
    const { composer, world } = setUp();
    world.sendError = { code: 'busy', message: '', detail: null, numbers: {} };
    composer.setText('precious');
    expect(await composer.send()).toBe(false);
    expect(composer.text).toBe('precious');
    expect(composer.failure?.code).toBe('busy');
    expect(composer.sending).toBe(false);
  });

  it('keeps what was typed while the send was under way', async () => {
    const { composer } = setUp();
    composer.setText('first');
    const sending = composer.send();
    composer.setText('first and more');
    await sending;
    expect(composer.text).toBe(' and more');
  });

  it('does not send twice', async () => {
    const { composer, sent } = setUp();
    composer.setText('once');
    await Promise.all([composer.send(), composer.send()]);
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['blank text', { text: '  \n', ready: true, generating: false }],
    ['no model', { text: 'x', ready: false, generating: false }],
    ['an answer under way', { text: 'x', ready: true, generating: true }],
  ])('does not send with %s', async (_, { text, ready, generating }) => {
    const { composer, sent, world } = setUp();
    Object.assign(world, { ready, generating });
    composer.setText(text);
    expect(composer.canSend).toBe(false);
    expect(await composer.send()).toBe(false);
    expect(sent).toHaveLength(0);
  });

  it('limits the answer for one send only', async () => {
    const { composer, checks, sent } = setUp();
    composer.setText('x');
    await composer.setOutputOverride(64);
    expect(checks.at(-1)?.outputTokens).toBe(64);
    await composer.send();
    expect(sent[0]?.outputTokens).toBe(64);
    expect(composer.outputOverride).toBeNull();
  });

  it('continues text with a base model, whatever the check says of templates', async () => {
    const { clock, composer, sent, world } = setUp();
    world.base = true;
    const refusal: IpcError = { code: 'no_template', message: '', detail: null, numbers: {} };
    world.answer = (request) => checkFor(request, { allowed: false, refusal });
    composer.setText('Once upon');
    await clock.advance(150);
    expect(composer.refusal).toBeNull();
    await composer.send();
    expect(sent[0]).toMatchObject({ text: 'Once upon', completion: true });
  });

  it('selects what does not fit and deletes nothing', () => {
    const { composer } = setUp();
    composer.setText('0123456789');
    composer.selectFrom(4);
    expect(composer.selection).toEqual({ start: 4, end: 10 });
    expect(composer.text).toBe('0123456789');
  });

  it('saves a restored draft again under a new conversation', async () => {
    const { clock, composer, drafts } = setUp();
    composer.restore('kept');
    await clock.advance(1000);
    expect(drafts).toEqual([]);
    composer.moveDraft();
    await clock.advance(1000);
    expect(drafts).toEqual(['kept']);
  });
});
