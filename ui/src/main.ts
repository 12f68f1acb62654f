import 'katex/dist/katex.min.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/markdown.css';

import { mount } from 'svelte';

import App from './App.svelte';
import { connect } from '$lib/ipc';
import { createSettle } from '$lib/markdown/settle';
import { createProbe } from '$lib/perf/probe';
import { browserClock } from '$lib/state/clock';
import { Session } from '$lib/state/session.svelte';

async function open(): Promise<void> {
  const target = document.getElementById('app');
  if (!target) return;
  const session = new Session(await connect(), browserClock, createProbe(window));
  window.addEventListener('error', (event) =>
    session.log(`error: ${event.message} at ${event.filename}:${event.lineno}`),
  );
  window.addEventListener('unhandledrejection', (event) =>
    session.log(`unhandled rejection: ${String(event.reason)}`),
  );
  window.addEventListener('pagehide', () => void session.composer.flushDraft());
  mount(App, { target, props: { session, settle: createSettle() } });
  await session.start();
}

void open();
