// What the page asks of its host. Nothing outside this folder knows whether that host is a Tauri window.
import type { AppEvent, Commands, ErrorCode, IpcError } from './generated';

export type CommandName = keyof Commands;
export type EventName = AppEvent['event'];
export type EventPayload<E extends EventName> = Extract<AppEvent, { event: E }>['payload'];

/** A command's arguments: none for `null`, else one value. */
export type CommandArgs<K extends CommandName> = Commands[K]['args'] extends null
  ? []
  : [Commands[K]['args']];

export interface Backend {
  /** Runs a command. Rejects with an `IpcError`. */
  invoke<K extends CommandName>(name: K, ...args: CommandArgs<K>): Promise<Commands[K]['result']>;
  /** Calls `handler` for every event of this name until the returned function is called. */
  listen<E extends EventName>(name: E, handler: (payload: EventPayload<E>) => void): Promise<() => void>;
}

/** Whatever a rejected command threw, as an `IpcError`; a foreign value is an internal fault with its own words. */
export function toIpcError(thrown: unknown): IpcError {
  if (isIpcError(thrown)) return { ...thrown, detail: thrown.detail ?? null, numbers: thrown.numbers ?? {} };
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: 'internal', message, detail: null, numbers: {} };
}

function isIpcError(value: unknown): value is IpcError {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value;
}

/** Every code once. The type makes a missing or misspelt code a compile error. */
const CODES: Record<ErrorCode, true> = {
  not_gguf: true,
  truncated: true,
  bad_header: true,
  unknown_architecture: true,
  unknown_tensor_type: true,
  missing_tensor: true,
  wrong_shape: true,
  unsupported_tokenizer: true,
  bad_template: true,
  no_template: true,
  plan_does_not_fit: true,
  context_above_trained: true,
  context_exceeded: true,
  output_limit_exceeded: true,
  prompt_limit_exceeded: true,
  empty_prompt: true,
  out_of_memory: true,
  no_model: true,
  not_found: true,
  busy: true,
  cancelled: true,
  io: true,
  bad_setting: true,
  internal: true,
};

export const ERROR_CODES = Object.keys(CODES) as ErrorCode[];
