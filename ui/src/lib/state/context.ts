import { getContext, setContext } from 'svelte';

import type { Settle } from '$lib/markdown/settle';
import type { Session } from './session.svelte';

const SESSION = Symbol('session');
const SETTLE = Symbol('settle');

export function provideSession(session: Session): void {
  setContext(SESSION, session);
}

export function useSession(): Session {
  return getContext<Session>(SESSION);
}

export function provideSettle(settle: Settle): void {
  setContext(SETTLE, settle);
}

export function useSettle(): Settle {
  return getContext<Settle>(SETTLE);
}
