import { expect, it } from 'vitest';

import { FakeClock, settle } from '$lib/test/fake-clock';
import { Debounced } from './debounced';

it('runs once after the quiet time', async () => {
  const clock = new FakeClock();
  let runs = 0;
  const job = new Debounced(clock, 150, async () => void runs++);
  job.schedule();
  await clock.advance(100);
  job.schedule();
  await clock.advance(100);
  expect(runs).toBe(0);
  await clock.advance(50);
  expect(runs).toBe(1);
});

it('never runs twice at once, and answers a call during a run with one more', async () => {
  const clock = new FakeClock();
  let runs = 0;
  let atOnce = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  const job = new Debounced(clock, 10, async () => {
    runs++;
    most = Math.max(most, ++atOnce);
    await new Promise<void>((resolve) => waiting.push(resolve));
    atOnce--;
  });
  const first = job.flush();
  void job.flush();
  void job.flush();
  waiting.shift()?.();
  await settle();
  waiting.shift()?.();
  await first;
  expect(runs).toBe(2);
  expect(most).toBe(1);
});

it('can be cancelled while it waits', async () => {
  const clock = new FakeClock();
  let runs = 0;
  const job = new Debounced(clock, 10, async () => void runs++);
  job.schedule();
  job.cancel();
  await clock.advance(100);
  expect(runs).toBe(0);
});
