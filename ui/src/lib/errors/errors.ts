// Error codes as words. One row per code; the type makes a missing row a compile error.
import { formatBytes, formatCount } from '$lib/format/numbers';
import type { ErrorCode, IpcError } from '$lib/ipc';
import { m } from '$lib/paraglide/messages.js';

/** What the page can offer as a way out. */
export type WayOut = 'settings' | 'models' | 'retry' | null;

interface Words {
  text: string;
  wayOut: WayOut;
}

const name = (error: IpcError): string => error.detail ?? '—';
const count = (error: IpcError, key: string): string => formatCount(error.numbers[key] ?? 0);
const bytes = (error: IpcError, key: string): string => formatBytes(error.numbers[key] ?? 0);

const WORDS: Record<ErrorCode, (error: IpcError) => Words> = {
  not_gguf: () => ({ text: m.error_not_gguf(), wayOut: 'models' }),
  truncated: () => ({ text: m.error_truncated(), wayOut: 'models' }),
  bad_header: (error) => ({ text: m.error_bad_header({ name: name(error) }), wayOut: 'models' }),
  unknown_architecture: (error) => ({
    text: m.error_unknown_architecture({ name: name(error) }),
    wayOut: 'models',
  }),
  unknown_tensor_type: (error) => ({
    text: m.error_unknown_tensor_type({ name: name(error) }),
    wayOut: 'models',
  }),
  missing_tensor: (error) => ({ text: m.error_missing_tensor({ name: name(error) }), wayOut: 'models' }),
  wrong_shape: (error) => ({ text: m.error_wrong_shape({ name: name(error) }), wayOut: 'models' }),
  unsupported_tokenizer: (error) => ({
    text: m.error_unsupported_tokenizer({ name: name(error) }),
    wayOut: 'models',
  }),
  bad_template: (error) => ({ text: m.error_bad_template({ name: name(error) }), wayOut: 'models' }),
  no_template: () => ({ text: m.error_no_template(), wayOut: null }),
  plan_does_not_fit: (error) => {
    const numbers = { needed: bytes(error, 'needed'), budget: bytes(error, 'budget') };
    const largest = error.numbers.largestContext ?? 0;
    const text =
      largest > 0
        ? m.error_plan_does_not_fit_context({ ...numbers, context: formatCount(largest) })
        : m.error_plan_does_not_fit(numbers);
    return { text, wayOut: 'settings' };
  },
  context_above_trained: (error) => ({
    text: m.error_context_above_trained({ wanted: count(error, 'wanted'), trained: count(error, 'trained') }),
    wayOut: 'settings',
  }),
  context_exceeded: (error) => ({
    text: m.error_context_exceeded({
      prompt: count(error, 'prompt'),
      output: count(error, 'output'),
      context: count(error, 'context'),
      excess: count(error, 'excess'),
    }),
    wayOut: null,
  }),
  output_limit_exceeded: (error) => ({
    text: m.error_output_limit_exceeded({ wanted: count(error, 'wanted'), limit: count(error, 'limit') }),
    wayOut: 'settings',
  }),
  prompt_limit_exceeded: (error) => ({
    text: m.error_prompt_limit_exceeded({ prompt: count(error, 'prompt'), limit: count(error, 'limit') }),
    wayOut: null,
  }),
  empty_prompt: () => ({ text: m.error_empty_prompt(), wayOut: null }),
  out_of_memory: (error) => ({
    text: m.error_out_of_memory({ needed: bytes(error, 'needed'), free: bytes(error, 'free') }),
    wayOut: 'settings',
  }),
  no_model: () => ({ text: m.error_no_model(), wayOut: 'models' }),
  not_found: (error) => ({ text: m.error_not_found({ name: name(error) }), wayOut: 'models' }),
  busy: () => ({ text: m.error_busy(), wayOut: null }),
  cancelled: () => ({ text: m.error_cancelled(), wayOut: 'retry' }),
  io: (error) => ({ text: m.error_io({ name: name(error) }), wayOut: 'retry' }),
  bad_setting: (error) => ({ text: m.error_bad_setting({ name: name(error) }), wayOut: 'settings' }),
  internal: (error) => ({ text: m.error_internal({ message: error.message }), wayOut: 'retry' }),
};

/** Words for an error. A code from a newer backend shows itself rather than nothing. */
export function describe(error: IpcError): Words {
  const words = WORDS[error.code] as ((error: IpcError) => Words) | undefined;
  return words
    ? words(error)
    : { text: m.error_unknown({ code: error.code, message: error.message }), wayOut: 'retry' };
}
