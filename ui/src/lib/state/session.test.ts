import { describe, expect, it } from 'vitest';

import type { Backend } from '$lib/ipc/backend';
import { createFakeBackend } from '$lib/ipc/fake';
import type { ModelStatus } from '$lib/ipc/generated';
import { browserClock } from '$lib/state/clock';
import { Session } from '$lib/state/session.svelte';
import { silentProbe } from '$lib/test/app';

describe('start', () => {
  it('keeps a model event that is newer than the answer about the model', async () => {
    const fake = createFakeBackend({ burstMs: 1, loadMs: 5 });
    const ready = await fake.invoke('model_status');
    const listeners: ((status: ModelStatus) => void)[] = [];
    const backend = {
      ...fake,
      listen: (name: string, receive: (payload: never) => void) => {
        if (name === 'model_status') listeners.push(receive as (status: ModelStatus) => void);
        return Promise.resolve(() => undefined);
      },
      invoke: async (name: string, args?: unknown) => {
        if (name !== 'model_status') return (fake.invoke as (n: string, a?: unknown) => unknown)(name, args);
        for (const listener of listeners) listener(ready);
        return { state: 'loading', model: 'SmolLM2', doneBytes: 1, totalBytes: 2 };
      },
    } as unknown as Backend;
    const session = new Session(backend, browserClock, silentProbe);
    await session.start();
    expect(ready.state).toBe('ready');
    expect(session.models.status.state).toBe('ready');
  });
});
