import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import axe from 'axe-core';
import { describe, expect, it } from 'vitest';

import type { FakeScenario } from '$lib/ipc/fake';
import { openApp } from '$lib/test/app';

/** Contrast needs a real layout; it is measured in the browser. */
const RULES = { 'color-contrast': { enabled: false } };

async function violations(): Promise<string[]> {
  const { violations } = await axe.run(document.body, { rules: RULES });
  return violations.map(
    (violation) => `${violation.id}: ${violation.nodes.map((node) => node.html).join(' ')}`,
  );
}

describe('axe finds nothing', () => {
  it.each<FakeScenario>(['new', 'chat', 'blocked', 'base', 'empty', 'nothing', 'loading', 'failed'])(
    'on the screen “%s”',
    async (scenario) => {
      await openApp({ scenario });
      if (scenario === 'blocked') await screen.findByTestId('block-reason');
      expect(await violations()).toEqual([]);
    },
  );

  it('in the settings', async () => {
    const { session } = await openApp();
    await userEvent.click(screen.getByTestId('settings-open'));
    await waitFor(() => expect(session.settings.preview).not.toBeNull());
    expect(await violations()).toEqual([]);
  });

  it('in the check-up', async () => {
    await openApp();
    await userEvent.click(screen.getByTestId('doctor-open'));
    await screen.findByTestId('doctor');
    expect(await violations()).toEqual([]);
  });

  it('in the memory details', async () => {
    await openApp();
    await userEvent.click(screen.getByTestId('gauge-details'));
    await screen.findByText('Other programs');
    expect(await violations()).toEqual([]);
  });

  it('in an open edit and an open statistics table', async () => {
    await openApp({ scenario: 'chat' });
    await userEvent.click(screen.getAllByTestId('statistics')[0]!);
    await userEvent.click(screen.getAllByTestId('edit')[1]!);
    expect(await violations()).toEqual([]);
  });
});

describe('the gauge', () => {
  it('is a meter that says itself in words, in both languages', async () => {
    await openApp({ scenario: 'chat' });
    const meter = screen.getByRole('meter');
    expect(meter.getAttribute('aria-valuetext')).toMatch(
      /Plimsoll holds .+ MiB of the .+ GiB.*4,096 tokens.*Fits/,
    );
    expect(Number(meter.getAttribute('aria-valuenow'))).toBeLessThanOrEqual(
      Number(meter.getAttribute('aria-valuemax')),
    );
    await userEvent.click(screen.getByTestId('lang-switch'));
    await waitFor(() => expect(meter.getAttribute('aria-valuetext')).toContain('上下文共 4,096'));
  });

  it('has a table whose rows sum to the machine', async () => {
    await openApp({ scenario: 'chat' });
    await userEvent.click(screen.getByTestId('gauge-details'));
    await screen.findByText('Other programs');
    const numbers = [...document.querySelectorAll('td.exact')].map((cell) =>
      Number(cell.textContent?.replaceAll(',', '')),
    );
    const total = numbers.pop();
    expect(numbers.reduce((sum, bytes) => sum + bytes, 0)).toBe(total);
  });
});

it('every control can be reached with the keyboard', async () => {
  await openApp({ scenario: 'chat' });
  const user = userEvent.setup();
  const reached = new Set<Element>();
  document.body.focus();
  for (let step = 0; step < 80; step++) {
    await user.tab();
    if (document.activeElement) reached.add(document.activeElement);
  }
  const controls = [...document.querySelectorAll('button:not(:disabled), textarea, a[href]')];
  const missed = controls.filter(
    (control) => !reached.has(control) && control.getAttribute('tabindex') !== '-1',
  );
  expect(missed.map((control) => control.outerHTML)).toEqual([]);
});
