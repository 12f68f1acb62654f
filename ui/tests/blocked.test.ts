import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';

import type { FakeBackend } from '$lib/ipc/fake';
import type { Session } from '$lib/state/session.svelte';
import { openApp } from '$lib/test/app';

let backend: FakeBackend;
let session: Session;

beforeEach(async () => {
  ({ backend, session } = await openApp({ scenario: 'blocked' }));
  await screen.findByTestId('block-reason');
});

const send = () => screen.getByTestId<HTMLButtonElement>('send');
const composer = () => screen.getByTestId<HTMLTextAreaElement>('composer');

async function unblocked(): Promise<void> {
  await waitFor(() => expect(send().disabled).toBe(false));
  expect(screen.queryByTestId('block-reason')).toBeNull();
}

describe('a blocked Send', () => {
  it('says why in numbers that add up, and offers at least three ways out', () => {
    expect(send().disabled).toBe(true);
    const reason = screen.getByTestId('block-reason').textContent ?? '';
    const [prompt, output, excess, context] = (reason.match(/[\d,]+/g) ?? []).map((text) =>
      Number(text.replaceAll(',', '')),
    );
    expect(prompt! + output! - context!).toBe(excess);
    expect(screen.getAllByTestId(/^remedy-/).length).toBeGreaterThanOrEqual(3);
    expect(screen.getByTestId('gauge').dataset.state).toBe('blocked');
  });

  it('does not send with Enter', async () => {
    const user = userEvent.setup();
    await user.type(composer(), '{Enter}');
    expect(backend.calls.some((call) => call.name === 'generation_send')).toBe(false);
  });

  it('goes with a shorter answer, for this send only', async () => {
    const user = userEvent.setup();
    await user.click(screen.getByTestId('remedy-shorten_answer'));
    await unblocked();
    const limit = session.composer.outputOverride;
    expect(screen.getByTestId('output-override').textContent).toContain(String(limit));
    await user.click(send());
    await waitFor(() =>
      expect(backend.calls.find((call) => call.name === 'generation_send')?.args).toMatchObject({
        outputTokens: limit,
      }),
    );
    expect(screen.queryByTestId('output-override')).toBeNull();
  });

  it('names the turns that it leaves out, marks them, and takes them back', async () => {
    const user = userEvent.setup();
    const button = screen.getByTestId('remedy-drop_oldest_turns');
    expect(button.textContent).toContain('What is a Plimsoll mark?');
    await user.click(button);
    await unblocked();
    const marked = screen.getAllByText('take back');
    expect(marked.length).toBeGreaterThanOrEqual(2);
    await user.click(marked[0]!);
    await waitFor(() => expect(screen.getAllByText('take back')).toHaveLength(marked.length - 1));
  });

  it('enlarges the context at the price that the button shows', async () => {
    const user = userEvent.setup();
    const button = screen.getByTestId('remedy-enlarge_context');
    expect(button.textContent).toMatch(/\d MiB/);
    await user.click(button);
    await unblocked();
    expect(session.models.ready?.plan.contextTokens).toBeGreaterThan(1024);
  });

  it('selects what is too much and deletes nothing', async () => {
    const user = userEvent.setup();
    await session.settings.applyChange({ outputTokens: 128 });
    session.composer.setText('ship '.repeat(1100));
    const button = await screen.findByTestId('remedy-shorten_draft');
    const before = composer().value;
    await user.click(button);
    await waitFor(() => expect(composer().selectionEnd).toBe(before.length));
    expect(composer().selectionStart).toBeGreaterThan(0);
    expect(composer().value).toBe(before);
  });

  it('moves the draft to a new chat', async () => {
    const user = userEvent.setup();
    const before = composer().value;
    await user.click(screen.getByTestId('remedy-new_conversation'));
    await unblocked();
    expect(composer().value).toBe(before);
    expect(screen.queryByTestId('message-user')).toBeNull();
  });
});
