import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { openApp } from '$lib/test/app';

const composer = () => screen.getByTestId<HTMLTextAreaElement>('composer');
const sends = (backend: { calls: { name: string }[] }) =>
  backend.calls.filter((call) => call.name === 'generation_send').length;

async function answered(): Promise<void> {
  await waitFor(() => expect(screen.queryByTestId('stop')).toBeNull(), { timeout: 5000 });
}

describe('a conversation', () => {
  it('fills an example without sending it, then sends and streams the answer', async () => {
    const { backend } = await openApp();
    const user = userEvent.setup();
    await user.click(screen.getAllByTestId('example')[2]!);
    expect(composer().value).toBe('What is the capital of France?');
    expect(sends(backend)).toBe(0);
    await user.click(screen.getByTestId('send'));
    await waitFor(() =>
      expect(screen.getByTestId('message-user').textContent).toContain('capital of France'),
    );
    await answered();
    await waitFor(() =>
      expect(screen.getByTestId('message-assistant').querySelector('strong')?.textContent).toBe('Paris'),
    );
    expect(composer().value).toBe('');
  });

  it('counts prompt and answer against the context as one types', async () => {
    await openApp();
    const user = userEvent.setup();
    await user.type(composer(), 'Hello there');
    await waitFor(() => expect(screen.getByTestId('token-count').dataset.stale).toBe('false'));
    expect(screen.getByTestId('token-count').textContent?.trim()).toBe('38 + 512 of 4,096');
  });

  it('sends with Enter, breaks the line with Shift+Enter, and leaves a composing Enter alone', async () => {
    const { backend } = await openApp();
    const user = userEvent.setup();
    await user.type(composer(), 'one{Shift>}{Enter}{/Shift}two');
    expect(composer().value).toBe('one\ntwo');
    for (const composing of [{ isComposing: true }, { keyCode: 229 }]) {
      const enter = new KeyboardEvent('keydown', {
        key: 'Enter',
        bubbles: true,
        cancelable: true,
        ...composing,
      });
      composer().dispatchEvent(enter);
      expect(enter.defaultPrevented).toBe(false);
    }
    expect(sends(backend)).toBe(0);
    await user.type(composer(), '{Enter}');
    await waitFor(() => expect(sends(backend)).toBe(1));
    await answered();
  });

  it('stops with Escape and keeps the text, marked', async () => {
    await openApp({ burstMs: 20 });
    const user = userEvent.setup();
    await user.type(composer(), 'Tell me a long story{Enter}');
    await waitFor(() => expect(screen.getByTestId('message-assistant').textContent).toContain('Plimsoll'));
    await user.keyboard('{Escape}');
    await answered();
    const answer = screen.getByTestId('message-assistant');
    expect(answer.dataset.state).toBe('stopped');
    expect(answer.textContent).toContain('Stopped by you');
    expect(answer.textContent).toContain('Plimsoll');
  });

  it('says when an answer was cut, and continues it in place', async () => {
    const { session, backend } = await openApp();
    await session.settings.applyChange({ outputTokens: 20 });
    const user = userEvent.setup();
    await user.type(composer(), 'Tell me more{Enter}');
    await waitFor(() => expect(screen.getByTestId('length-note').textContent).toContain('20'));
    await user.click(screen.getByTestId('continue'));
    await waitFor(() => expect(sends(backend)).toBe(2));
    expect(backend.calls.findLast((call) => call.name === 'generation_send')?.args).toMatchObject({
      text: '',
      completion: true,
    });
    await answered();
    await waitFor(() =>
      expect(screen.getByTestId('message-assistant').textContent).toMatch(/Plimsoll mark.*harbour/s),
    );
  });

  it('shows the statistics of an answer on demand', async () => {
    await openApp({ scenario: 'chat' });
    const user = userEvent.setup();
    const answer = screen.getAllByTestId('message-assistant')[1]!;
    expect(within(answer).queryByTestId('statistics-table')).toBeNull();
    await user.click(within(answer).getByTestId('statistics'));
    const table = within(answer).getByTestId('statistics-table').textContent;
    for (const number of ['218 tokens', '71.4 tokens/s', '84 ms', '412 tokens', '371 tokens']) {
      expect(table).toContain(number);
    }
  });

  it('regenerates as a sibling and goes back to the older one', async () => {
    await openApp({ scenario: 'chat' });
    const user = userEvent.setup();
    await user.click(screen.getAllByTestId('regenerate')[1]!);
    await answered();
    await waitFor(() => expect(screen.getByTestId('siblings').textContent).toContain('2/2'));
    await user.click(within(screen.getByTestId('siblings')).getAllByRole('button')[0]!);
    await waitFor(() => expect(screen.getByTestId('siblings').textContent).toContain('1/2'));
  });

  it('edits a question as a sibling', async () => {
    await openApp({ scenario: 'chat' });
    const user = userEvent.setup();
    await user.click(screen.getAllByTestId('edit')[1]!);
    const box = screen.getByTestId<HTMLTextAreaElement>('edit-box');
    await user.clear(box);
    await user.type(box, 'What is the capital of France?{Enter}');
    await answered();
    await waitFor(() =>
      expect(screen.getAllByTestId('message-assistant')[1]!.textContent).toContain('Paris'),
    );
    expect(screen.getAllByTestId('message-user')[1]!.textContent).toContain('2/2');
  });

  it('keeps an edit that was refused, with the reason', async () => {
    const { backend } = await openApp({ scenario: 'chat' });
    const user = userEvent.setup();
    await user.click(screen.getAllByTestId('edit')[1]!);
    backend.failNext.set('generation_send', { code: 'busy', message: '', detail: null, numbers: {} });
    await user.type(screen.getByTestId('edit-box'), ' please{Enter}');
    await waitFor(() => expect(screen.getByTestId('error').dataset.code).toBe('busy'));
    expect(screen.getByTestId<HTMLTextAreaElement>('edit-box').value).toContain('please');
  });

  it('keeps the draft when a send fails', async () => {
    const { backend } = await openApp();
    const user = userEvent.setup();
    await user.type(composer(), 'precious words');
    const numbers = { needed: 2 ** 30, free: 2 ** 20 };
    backend.failNext.set('generation_send', { code: 'out_of_memory', message: '', detail: null, numbers });
    await user.click(screen.getByTestId('send'));
    await waitFor(() => expect(screen.getByTestId('error').textContent).toContain('1.00 GiB'));
    expect(composer().value).toBe('precious words');
  });

  it('takes a megabyte of pasted text', async () => {
    const { backend } = await openApp();
    const text = 'ship '.repeat(210_000);
    const user = userEvent.setup();
    await user.click(composer());
    await user.paste(text);
    expect(composer().value).toHaveLength(1_050_000);
    // It is not laid out: the text box is hidden and an excerpt stands in its place, with the focus.
    expect(composer().className).toContain('folded');
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('Long draft, in part')));
    await waitFor(() => expect(screen.getByTestId('block-reason').textContent).toContain('4,096'), {
      timeout: 5000,
    });
    expect(screen.getByTestId<HTMLButtonElement>('send').disabled).toBe(true);
    await waitFor(() => expect(backend.calls.some((call) => call.name === 'draft_save')).toBe(true));
  });

  it('removes a long draft and puts it back', async () => {
    const { session } = await openApp();
    const user = userEvent.setup();
    session.composer.setText('ship '.repeat(10_000));
    await user.click(await screen.findByText('Remove'));
    expect(composer().value).toBe('');
    await user.click(screen.getByText('Put back 50,000 characters'));
    expect(composer().value).toHaveLength(50_000);
    await user.click(screen.getByText('Edit all of it'));
    expect(screen.queryByTestId('long-draft')).toBeNull();
  });

  it('announces an answer once, when it is complete', async () => {
    await openApp();
    const user = userEvent.setup();
    await user.type(composer(), 'What is the capital of France?{Enter}');
    await answered();
    await waitFor(() =>
      expect(screen.getByTestId('announce-status').textContent).toContain('Answer complete'),
    );
    const transcript = screen.getByTestId('transcript');
    expect(transcript.getAttribute('role')).toBe('log');
    expect(transcript.getAttribute('aria-live')).toBe('off');
  });

  it('shows the real address of a link before it opens', async () => {
    const { backend } = await openApp({ scenario: 'chat' });
    const user = userEvent.setup();
    const link = await waitFor(() => screen.getByText("the IMO's page on load lines"));
    await user.click(link);
    expect((await screen.findByTestId('link-address')).textContent).toBe('https://www.imo.org/');
    expect(backend.calls.some((call) => call.name === 'open_link')).toBe(false);
    await user.click(screen.getByTestId('link-open'));
    await waitFor(() =>
      expect(backend.calls.find((call) => call.name === 'open_link')?.args).toBe('https://www.imo.org/'),
    );
  });

  it('restores the saved draft', async () => {
    await openApp({ scenario: 'blocked' });
    expect(composer().value).toContain('five ships');
  });

  it('starts a new chat that keeps the draft', async () => {
    await openApp({ scenario: 'chat' });
    const user = userEvent.setup();
    await user.type(composer(), 'kept');
    await user.click(screen.getByTestId('new-chat'));
    await waitFor(() => expect(screen.queryByTestId('message-user')).toBeNull());
    expect(composer().value).toBe('kept');
  });
});

describe('a base model', () => {
  it('says what it is and continues text', async () => {
    const { backend } = await openApp({ scenario: 'base' });
    const user = userEvent.setup();
    expect(screen.getByTestId('base-banner').textContent).toContain('Gemma 3 270M is a base model');
    expect(screen.getByLabelText('Text to continue')).toBe(composer());
    await user.type(composer(), 'The sea{Enter}');
    await answered();
    expect(backend.calls.find((call) => call.name === 'generation_send')?.args).toMatchObject({
      completion: true,
    });
  });
});
