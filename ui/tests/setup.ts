import { cleanup, configure } from '@testing-library/svelte';
import { afterEach } from 'vitest';

// A busy machine is slow, not wrong.
configure({ asyncUtilTimeout: 8000 });

// jsdom has no canvas, and says so loudly when axe asks whether a text is an icon font.
HTMLCanvasElement.prototype.getContext = () => null;

afterEach(() => {
  cleanup();
  document.documentElement.removeAttribute('data-ready');
  document.documentElement.removeAttribute('data-theme');
});
