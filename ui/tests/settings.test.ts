import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { locale } from '$lib/i18n/locale.svelte';
import type { FakeOptions } from '$lib/ipc/fake';
import { openApp } from '$lib/test/app';

async function openSettings(options: Partial<FakeOptions> = {}) {
  const app = await openApp(options);
  const user = userEvent.setup();
  await user.click(screen.getByTestId('settings-open'));
  await waitFor(() => expect(app.session.settings.preview).not.toBeNull());
  return { ...app, user };
}

const summary = () => screen.getByTestId('settings-summary').textContent ?? '';
const applyButton = () => screen.getByTestId<HTMLButtonElement>('settings-apply');
const applied = (backend: { calls: { name: string }[] }) =>
  backend.calls.filter((call) => call.name === 'settings_apply').length;

describe('the settings panel', () => {
  it('prices each context before it is applied', async () => {
    await openSettings();
    const options = [...screen.getByTestId('context-select').querySelectorAll('option')].map((option) =>
      option.textContent?.trim(),
    );
    expect(options).toContain('4,096 tokens · ±0');
    expect(options).toContain('8,192 tokens · +90.0 MiB');
    expect(options).toContain('512 tokens · −78.8 MiB');
  });

  it('says what Apply would do, applies it, and closes', async () => {
    const { backend, session, user } = await openSettings();
    expect(applyButton().disabled).toBe(true);
    await user.selectOptions(screen.getByTestId('context-select'), '8192');
    await waitFor(() => expect(summary()).toContain('+90.0 MiB and +4,096 tokens'));
    expect(summary()).toContain('loaded again');
    expect(applied(backend)).toBe(0);
    await user.click(applyButton());
    await waitFor(() => expect(session.models.ready?.plan.contextTokens).toBe(8192));
    await waitFor(() => expect(screen.queryByTestId('settings')).toBeNull());
  });

  it('changes nothing on Cancel', async () => {
    const { backend, session, user } = await openSettings();
    await user.selectOptions(screen.getByTestId('context-select'), '512');
    await user.click(screen.getByTestId('settings-cancel'));
    expect(applied(backend)).toBe(0);
    expect(session.settings.current?.contextTokens).toBe(4096);
  });

  it('refuses what does not fit, in numbers, and lets another choice make it fit', async () => {
    const { session, user } = await openSettings({ scenario: 'tight' });
    await user.selectOptions(screen.getByTestId('budget-select'), '0.25');
    await waitFor(() => expect(summary()).toContain('the budget is 6.00 GiB'));
    expect(applyButton().disabled).toBe(true);
    await user.selectOptions(screen.getByTestId('context-select'), '4096');
    await waitFor(() => expect(applyButton().disabled).toBe(false));
    await user.click(applyButton());
    await waitFor(() => expect(session.settings.current?.memoryFraction).toBe(0.25));
  });

  it('shows a refusal by the backend and keeps the draft', async () => {
    const { backend, session, user } = await openSettings();
    await user.selectOptions(screen.getByTestId('context-select'), '8192');
    await waitFor(() => expect(applyButton().disabled).toBe(false));
    const numbers = { needed: 2 ** 31, budget: 2 ** 30, largestContext: 2048 };
    backend.failNext.set('settings_apply', { code: 'plan_does_not_fit', message: '', detail: null, numbers });
    await user.click(applyButton());
    await waitFor(() => expect(screen.getByTestId('error').textContent).toContain('2,048 tokens would fit'));
    expect(session.settings.draft?.contextTokens).toBe(8192);
  });

  it('marks what the file cannot give, with the reason', async () => {
    await openSettings();
    const fp16 = screen.getByTestId<HTMLInputElement>('precision-fp16');
    expect(fp16.disabled).toBe(true);
    expect(fp16.closest('label')?.textContent).toContain('The file keeps its own precision');
    expect(screen.getByTestId('kv-int8').closest('label')?.textContent).toMatch(/−[\d.]+ MiB/);
  });

  it('lists models with their facts, marks base models and says what is wrong with a file', async () => {
    await openSettings();
    const list = screen.getByTestId('model-list').textContent ?? '';
    for (const fact of ['93.8 MiB', 'INT4, Q4_1', '8,192', 'Base model', 'blk.0.ffn_up.weight']) {
      expect(list).toContain(fact);
    }
  });

  it('previews theme and language at once and takes them back on Cancel', async () => {
    const { user } = await openSettings();
    await user.selectOptions(screen.getByTestId('theme-select'), 'dark');
    await user.selectOptions(screen.getByTestId('language-select'), 'zh-CN');
    await waitFor(() => expect(document.documentElement.dataset.theme).toBe('dark'));
    await waitFor(() => expect(applyButton().textContent).toBe('应用'));
    await user.click(screen.getByTestId('settings-cancel'));
    await waitFor(() => expect(document.documentElement.dataset.theme).toBeUndefined());
    expect(locale.current).toBe('en');
  });

  it('clamps what is typed under Advanced', async () => {
    const { session, user } = await openSettings();
    const temperature = screen.getByLabelText('Temperature');
    await user.clear(temperature);
    await user.type(temperature, '9{Tab}');
    expect(session.settings.draft?.temperature).toBe(2);
  });
});

it('switches the language from the header', async () => {
  await openApp();
  const user = userEvent.setup();
  await user.click(screen.getByTestId('lang-switch'));
  await waitFor(() => expect(screen.getByTestId('send').textContent).toBe('发送'));
  expect(document.documentElement.lang).toBe('zh-CN');
  await user.click(screen.getByTestId('lang-switch'));
  await waitFor(() => expect(screen.getByTestId('send').textContent).toBe('Send'));
});
