import { render, waitFor } from '@testing-library/svelte';

import App from '../../App.svelte';
import type { FakeOptions } from '$lib/ipc/fake';
import { createFakeBackend } from '$lib/ipc/fake';
import { renderSettled } from '$lib/markdown/settled';
import { browserClock } from '$lib/state/clock';
import type { StreamProbe } from '$lib/state/generation.svelte';
import { Session } from '$lib/state/session.svelte';

export const silentProbe: StreamProbe = {
  begin: () => undefined,
  delta: () => undefined,
  end: () => undefined,
};

/** The whole page over the scripted backend, once it is ready. */
export async function openApp(options: Partial<FakeOptions> = {}) {
  const backend = createFakeBackend({ burstMs: 1, loadMs: 5, ...options });
  const session = new Session(backend, browserClock, silentProbe);
  const view = render(App, { session, settle: async (text: string) => renderSettled(text) });
  await session.start();
  await waitFor(() => {
    if (document.documentElement.dataset.ready !== 'true') throw new Error('not ready');
  });
  return { backend, session, ...view };
}
