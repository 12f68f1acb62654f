import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';

import svelteConfig from './svelte.config.js';

/** Only `src/lib/ipc/` may know which host the page runs in. */
const hostImports = {
  patterns: [{ group: ['@tauri-apps/*'], message: 'Only src/lib/ipc/tauri.ts talks to Tauri.' }],
};

export default ts.config(
  {
    ignores: ['dist/', 'node_modules/', 'src/lib/paraglide/', 'project.inlang/', 'src/lib/ipc/generated.ts'],
  },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      'no-eval': 'error',
      'no-restricted-imports': ['error', hostImports],
      // TypeScript resolves names; ESLint cannot see types.
      'no-undef': 'off',
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
    rules: { 'svelte/no-at-html-tags': 'error' },
  },
  { files: ['src/lib/ipc/tauri.ts'], rules: { 'no-restricted-imports': 'off' } },
  { files: ['**/*.test.ts', 'tests/**'], rules: { '@typescript-eslint/no-non-null-assertion': 'off' } },
);
