import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';

import { ModelsState } from '$lib/state/models.svelte';
import type { Backend } from '$lib/ipc';
import { openApp } from '$lib/test/app';
import { FakeClock } from '$lib/test/fake-clock';

it('without a model offers those that are there, and loads one', async () => {
  await openApp({ scenario: 'empty' });
  const user = userEvent.setup();
  expect(screen.queryByTestId('composer')).toBeNull();
  await user.click(screen.getAllByTestId('model-load')[0]!);
  await waitFor(() => expect(screen.getByTestId('composer')).toBeTruthy());
  expect(screen.getByTestId('model-chip').textContent).toContain('SmolLM2 135M Instruct');
});

it('without any file says where models are looked for', async () => {
  await openApp({ scenario: 'nothing' });
  expect(screen.getByTestId('model-list').textContent).toContain('plimsoll/models');
  expect(screen.getByTestId('model-import')).toBeTruthy();
});

it('shows how far a load has come', async () => {
  await openApp({ scenario: 'loading' });
  const bar = screen.getByRole<HTMLProgressElement>('progressbar', { name: 'Loading' });
  expect(bar.value).toBe(2_300_000_000);
  expect(bar.parentElement?.textContent).toContain('2.14 GiB of 4.68 GiB');
});

it('says why a model could not be loaded, and offers the others', async () => {
  await openApp({ scenario: 'failed' });
  expect(screen.getByRole('heading', { level: 2 }).textContent).toBe('gpt-oss 20B could not be loaded');
  expect(screen.getByTestId('error').dataset.code).toBe('unknown_tensor_type');
  expect(screen.getByTestId('load-retry')).toBeTruthy();
  expect(screen.getAllByTestId('model-load').length).toBeGreaterThan(1);
});

it('says that it could not start', async () => {
  const { backend, session } = await openApp();
  backend.failNext.set('conversation_get', {
    code: 'io',
    message: 'x',
    detail: 'settings.json',
    numbers: {},
  });
  await session.start();
  await waitFor(() => expect(screen.getByTestId('error').textContent).toContain('settings.json'));
});

it('asks the doctor and shows six answered questions', async () => {
  await openApp();
  const user = userEvent.setup();
  await user.click(screen.getByTestId('doctor-open'));
  const dialog = await screen.findByTestId('doctor');
  await waitFor(() => expect(dialog.querySelectorAll('li').length).toBeGreaterThanOrEqual(6));
  expect(dialog.textContent).toContain('4096 tokens');
});

it('measures the pace of a load', () => {
  const clock = new FakeClock();
  const models = new ModelsState({} as Backend, clock);
  const loading = (doneBytes: number) =>
    models.apply({ state: 'loading', model: 'a', doneBytes, totalBytes: 1000 });
  loading(0);
  expect(models.pace).toBeNull();
  void clock.advance(500);
  loading(250);
  return clock.advance(0).then(() => {
    loading(250);
    expect(models.pace).toEqual({ bytesPerSecond: 500, secondsLeft: 1.5 });
    models.apply({ state: 'empty' });
    expect(models.pace).toBeNull();
  });
});
