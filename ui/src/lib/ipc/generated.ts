// Generated from crate plimsoll-ipc by `cargo xtask setup`. Do not edit: change the Rust types.

export type Accepted = { 
/**
 * Its generation.
 */
generation: number, 
/**
 * Id of the user's message.
 */
userMessage: number, 
/**
 * Id of the answer.
 */
answerMessage: number, };

export type AppEvent = { "event": "generation", "payload": GenerationEvent } | { "event": "memory", "payload": MemoryGauge } | { "event": "model_status", "payload": ModelStatus } | { "event": "conversation", "payload": ConversationView } | { "event": "settings", "payload": Settings };

export type AppInfo = { 
/**
 * Program version.
 */
version: string, 
/**
 * Where data lies.
 */
dataDir: string, 
/**
 * Where models are looked for.
 */
modelsDir: string, 
/**
 * Processor name.
 */
cpu: string, 
/**
 * Instruction sets that the kernels use, for example `AVX2+FMA`.
 */
kernels: string, 
/**
 * Total memory.
 */
memoryTotalBytes: number, 
/**
 * Free memory.
 */
memoryFreeBytes: number, 
/**
 * The operating system's language tag, for example `zh-CN`.
 */
locale: string, };

export type CandidateReport = { 
/**
 * The row's precision.
 */
precision: PrecisionChoice, 
/**
 * Can the source give it?
 */
available: boolean, 
/**
 * Bytes of the weights in it.
 */
weightsBytes: number, 
/**
 * Bytes of the whole plan with the wanted context.
 */
totalBytes: number, 
/**
 * Largest context that fits the budget with it; 0 when none does.
 */
largestContext: number, 
/**
 * Does the wanted context fit?
 */
fits: boolean, };

export type ConversationView = { 
/**
 * Its id.
 */
id: number, 
/**
 * Title from the first line.
 */
title: string, 
/**
 * The chosen branch.
 */
messages: Array<MessageView>, 
/**
 * What the user was writing.
 */
draft: string, 
/**
 * Running generation, if any.
 */
generation: number | null, };

export type DoctorItem = { 
/**
 * `memory`, `prompt`, `output`, `concurrency`, `quantization`, `kv`, `cpu`, `kernels`, `gpu`, `version`.
 */
id: string, 
/**
 * `ok`, `warn` or `bad`.
 */
state: string, 
/**
 * The question, in English.
 */
question: string, 
/**
 * The live answer, in English.
 */
answer: string, };

export type DoctorReport = { 
/**
 * Program version.
 */
version: string, 
/**
 * The lines.
 */
items: Array<DoctorItem>, };

export type DraftSave = { 
/**
 * Which conversation.
 */
conversation: number, 
/**
 * The whole draft.
 */
text: string, };

export type DropMessages = { 
/**
 * Which conversation.
 */
conversation: number, 
/**
 * Which messages.
 */
messages: Array<number>, 
/**
 * Leave out (true) or take back (false).
 */
dropped: boolean, };

export type ErrorCode = "not_gguf" | "truncated" | "bad_header" | "unknown_architecture" | "unknown_tensor_type" | "missing_tensor" | "wrong_shape" | "unsupported_tokenizer" | "bad_template" | "no_template" | "plan_does_not_fit" | "context_above_trained" | "context_exceeded" | "output_limit_exceeded" | "prompt_limit_exceeded" | "empty_prompt" | "out_of_memory" | "no_model" | "not_found" | "busy" | "cancelled" | "io" | "bad_setting" | "internal";

export type GenerationEvent = { 
/**
 * Which generation.
 */
generation: number, 
/**
 * Its conversation.
 */
conversation: number, 
/**
 * The answer's message.
 */
message: number, 
/**
 * 0, 1, 2 ... without gaps.
 */
seq: number, } & ({ "kind": "started", 
/**
 * Tokens of the prompt.
 */
promptTokens: number, 
/**
 * Of those, already in the cache.
 */
cachedTokens: number, } | { "kind": "progress", 
/**
 * Prompt tokens in the cache.
 */
doneTokens: number, 
/**
 * Prompt tokens in all.
 */
totalTokens: number, } | { "kind": "delta", 
/**
 * The text.
 */
text: string, 
/**
 * Milliseconds since the Unix epoch when the engine produced the first token in it.
 */
engineMs: number, } | { "kind": "usage", 
/**
 * The numbers.
 */
stats: MessageStats, } | { "kind": "done", 
/**
 * How.
 */
reason: MessageState, 
/**
 * The numbers.
 */
stats: MessageStats, } | { "kind": "failed", 
/**
 * Why.
 */
error: IpcError, });

export type GenerationKind = { "kind": "started", 
/**
 * Tokens of the prompt.
 */
promptTokens: number, 
/**
 * Of those, already in the cache.
 */
cachedTokens: number, } | { "kind": "progress", 
/**
 * Prompt tokens in the cache.
 */
doneTokens: number, 
/**
 * Prompt tokens in all.
 */
totalTokens: number, } | { "kind": "delta", 
/**
 * The text.
 */
text: string, 
/**
 * Milliseconds since the Unix epoch when the engine produced the first token in it.
 */
engineMs: number, } | { "kind": "usage", 
/**
 * The numbers.
 */
stats: MessageStats, } | { "kind": "done", 
/**
 * How.
 */
reason: MessageState, 
/**
 * The numbers.
 */
stats: MessageStats, } | { "kind": "failed", 
/**
 * Why.
 */
error: IpcError, };

export type GenerationSnapshot = { 
/**
 * Which.
 */
generation: number, 
/**
 * The answer's message.
 */
message: number, 
/**
 * Sequence number of the last event that is contained.
 */
seq: number, 
/**
 * The text so far.
 */
text: string, 
/**
 * How it stands.
 */
state: MessageState, 
/**
 * The numbers.
 */
stats: MessageStats, };

export type IpcError = { 
/**
 * The machine-readable reason.
 */
code: ErrorCode, 
/**
 * English text for logs and for `Details`.
 */
message: string, 
/**
 * The name that the code speaks of: a field, tensor, architecture or path.
 */
detail: string | null, 
/**
 * The numbers behind the refusal, by name.
 */
numbers: { [key in string]: number }, };

export type KvChoice = "auto" | "fp16" | "int8" | "int4";

export type MemoryGauge = { 
/**
 * Device name.
 */
device: string, 
/**
 * Total memory.
 */
totalBytes: number, 
/**
 * What Plimsoll may take.
 */
budgetBytes: number, 
/**
 * Model weights.
 */
weightsBytes: number, 
/**
 * KV pages that hold tokens of the conversation.
 */
kvUsedBytes: number, 
/**
 * KV pages promised to the prompt and answer at hand (running, or what Send would reserve now).
 */
kvReservedBytes: number, 
/**
 * KV pages that exist and are free.
 */
kvIdleBytes: number, 
/**
 * Activations of one prefill chunk, attention partials, logits.
 */
workspaceBytes: number, 
/**
 * Program, tokenizer, window.
 */
runtimeBytes: number, 
/**
 * Other programs.
 */
otherBytes: number, 
/**
 * Left free.
 */
freeBytes: number, 
/**
 * Tokens in the KV cache.
 */
kvUsedTokens: number, 
/**
 * Tokens reserved for prompt + answer at hand beyond those used.
 */
kvReservedTokens: number, 
/**
 * Context limit in force.
 */
contextTokens: number, 
/**
 * `empty` (nothing loaded), `ok`, `tight` or `blocked`.
 */
state: string, };

export type MessageState = "streaming" | "done" | "stopped" | "length" | "failed";

export type MessageStats = { 
/**
 * Tokens of the rendered prompt.
 */
promptTokens: number, 
/**
 * Of those, tokens that were in the KV cache already and were not computed again.
 */
cachedTokens: number, 
/**
 * Tokens of the answer.
 */
outputTokens: number, 
/**
 * From Send to the first token.
 */
firstTokenMs: number, 
/**
 * Decode speed.
 */
tokensPerSecond: number, 
/**
 * Prefill speed over the tokens that were computed.
 */
prefillTokensPerSecond: number, };

export type MessageView = { 
/**
 * Id in the conversation.
 */
id: number, 
/**
 * The message it answers.
 */
parent: number | null, 
/**
 * Who.
 */
role: Role, 
/**
 * Markdown.
 */
text: string, 
/**
 * How it ended.
 */
state: MessageState, 
/**
 * Numbers, for answers.
 */
stats: MessageStats | null, 
/**
 * Position among its siblings, from 1.
 */
sibling: number, 
/**
 * Number of siblings (edits and regenerations).
 */
siblings: number, 
/**
 * Left out of the prompt by the user's own choice ("drop oldest turns").
 */
dropped: boolean, };

export type ModelEntry = { 
/**
 * Stable id: the file's path for imported files, the file stem inside the models folder.
 */
id: string, 
/**
 * Name from the file's metadata, else the file stem.
 */
name: string, 
/**
 * Where it lies.
 */
path: string, 
/**
 * Size of the file.
 */
fileBytes: number, 
/**
 * Architecture, for example `llama`.
 */
architecture: string, 
/**
 * `int4`, `int8` or `fp16` class of the file, and its most frequent storage type, for example `Q4_1`.
 */
precisionClass: string, 
/**
 * Most frequent storage type.
 */
storageType: string, 
/**
 * Trained context in tokens.
 */
trainedContext: number, 
/**
 * Does the file hold a chat template? Without one it is a base model.
 */
chat: boolean, 
/**
 * The model cannot be used, and why.
 */
problem: IpcError | null, };

export type ModelStatus = { "state": "empty" } | { "state": "loading", 
/**
 * Which.
 */
model: string, 
/**
 * Bytes packed so far.
 */
doneBytes: number, 
/**
 * Bytes to pack.
 */
totalBytes: number, } | { "state": "ready", 
/**
 * Which.
 */
model: ModelEntry, 
/**
 * Its plan.
 */
plan: PlanReport, 
/**
 * Load time.
 */
loadMs: number, } | { "state": "failed", 
/**
 * Which.
 */
model: string, 
/**
 * Why.
 */
error: IpcError, };

export type PlanReport = { 
/**
 * Model id or path.
 */
model: string, 
/**
 * Device name.
 */
device: string, 
/**
 * Total memory of the device.
 */
deviceTotalBytes: number, 
/**
 * Free memory when the plan was made.
 */
deviceFreeBytes: number, 
/**
 * What the plan may take.
 */
budgetBytes: number, 
/**
 * Segments, in the order of the gauge.
 */
segments: Array<SegmentReport>, 
/**
 * Sum of the segments.
 */
totalBytes: number, 
/**
 * KV bytes that one more token of context costs (global layers; window layers are bounded).
 */
kvBytesPerToken: number, 
/**
 * Precision in force.
 */
precision: PrecisionChoice, 
/**
 * KV type in force.
 */
kv: KvChoice, 
/**
 * Context in tokens.
 */
contextTokens: number, 
/**
 * The model's trained context.
 */
trainedContext: number, 
/**
 * Largest context that fits the budget.
 */
largestContext: number, 
/**
 * Prefill chunk in tokens.
 */
chunkTokens: number, 
/**
 * Does it fit the budget?
 */
fits: boolean, 
/**
 * FP16, INT8, INT4.
 */
candidates: Array<CandidateReport>, };

export type PrecisionChoice = "auto" | "int4" | "int8" | "fp16";

export type PromptCheck = { 
/**
 * From the request.
 */
request: number, 
/**
 * Tokens of the rendered prompt with the draft, counted by the model's tokenizer.
 */
promptTokens: number, 
/**
 * Tokens that the draft adds.
 */
draftTokens: number, 
/**
 * Of the prompt, tokens that are in the KV cache already.
 */
cachedTokens: number, 
/**
 * Tokens reserved for the answer.
 */
outputTokens: number, 
/**
 * Context limit.
 */
contextTokens: number, 
/**
 * KV bytes that Send would reserve.
 */
reserveBytes: number, 
/**
 * Would Send go through?
 */
allowed: boolean, 
/**
 * Why not (`context_exceeded`, `output_limit_exceeded`, `plan_does_not_fit`, `empty_prompt`, `no_model`, `busy`, `no_template`).
 */
refusal: IpcError | null, 
/**
 * Ways out, best first; each makes Send go through on its own, unless it says what excess remains.
 */
remedies: Array<Remedy>, };

export type PromptCheckRequest = { 
/**
 * Which conversation.
 */
conversation: number, 
/**
 * What the user wrote.
 */
draft: string, 
/**
 * Longest answer; `None` = the settings' output limit.
 */
outputTokens: number | null, 
/**
 * Echoed back, so that the page can drop answers to older questions.
 */
request: number, };

export type Remedy = { "kind": "shorten_answer", 
/**
 * New output limit.
 */
outputTokens: number, 
/**
 * Tokens gained.
 */
gainTokens: number, } | { "kind": "drop_oldest_turns", 
/**
 * Ids of the messages to leave out.
 */
messages: Array<number>, 
/**
 * First words of each turn that would be dropped.
 */
names: Array<string>, 
/**
 * Tokens gained.
 */
gainTokens: number, } | { "kind": "enlarge_context", 
/**
 * New context limit.
 */
contextTokens: number, 
/**
 * Bytes it costs.
 */
costBytes: number, } | { "kind": "shorten_draft", 
/**
 * UTF-16 code units of the draft that fit.
 */
keepUtf16: number, 
/**
 * Tokens to lose.
 */
excessTokens: number, } | { "kind": "new_conversation", 
/**
 * Tokens gained.
 */
gainTokens: number, };

export type Role = "user" | "assistant";

export type SegmentReport = { 
/**
 * `weights`, `kv`, `workspace`, `host` or `runtime`.
 */
name: string, 
/**
 * Its size.
 */
bytes: number, };

export type SelectSibling = { 
/**
 * Which conversation.
 */
conversation: number, 
/**
 * The message whose place in the branch changes.
 */
message: number, 
/**
 * Position of the wanted sibling, from 1.
 */
sibling: number, };

export type SendRequest = { 
/**
 * Which conversation.
 */
conversation: number, 
/**
 * What the user wrote; ignored when `regenerate` is set.
 */
text: string, 
/**
 * Longest answer; `None` = the settings' output limit.
 */
outputTokens: number | null, 
/**
 * Answer this user message again, as a sibling of the old answer.
 */
regenerate: number | null, 
/**
 * Replace this user message by `text`, as a sibling.
 */
edit: number | null, 
/**
 * Continue the text as it stands (base models, and the user's explicit choice).
 */
completion: boolean, };

export type SettingOption = { 
/**
 * The value as it would be set, for example `int8`, `8192` or `0.75`.
 */
value: string, 
/**
 * Bytes the plan would take with this value.
 */
totalBytes: number, 
/**
 * Bytes that the value adds (positive) or frees (negative) against what is in force now.
 */
deltaBytes: number, 
/**
 * Context in tokens that the plan would have with this value.
 */
contextTokens: number, 
/**
 * Tokens of context that the value adds or takes.
 */
deltaTokens: number, 
/**
 * Does the plan fit with it?
 */
fits: boolean, 
/**
 * Can it be chosen at all (a GGUF file keeps its precision)?
 */
available: boolean, 
/**
 * Why not, as a code for words: `file_precision`, `above_trained`, `over_budget`, `not_built`.
 */
reason: string | null, };

export type Settings = { 
/**
 * Id of the model to use; `None` until one is chosen.
 */
model: string | null, 
/**
 * Context limit in tokens (prompt + answer).
 */
contextTokens: number, 
/**
 * Longest answer in tokens; reserved before Send, enforced while decoding.
 */
outputTokens: number, 
/**
 * Fraction of total memory that the plan may use, 0.05 to 0.95.
 */
memoryFraction: number, 
/**
 * Weight precision.
 */
precision: PrecisionChoice, 
/**
 * KV cache type.
 */
kv: KvChoice, 
/**
 * Compute threads; 0 = physical cores.
 */
threads: number, 
/**
 * 0 is greedy.
 */
temperature: number, 
/**
 * Nucleus sampling; 1 is off.
 */
topP: number, 
/**
 * 0 is off.
 */
topK: number, 
/**
 * 0 is off.
 */
minP: number, 
/**
 * 1 is off.
 */
repetitionPenalty: number, 
/**
 * System prompt; empty = the template's own default.
 */
systemPrompt: string, 
/**
 * `system`, `light` or `dark`.
 */
theme: string, 
/**
 * `auto`, `en` or `zh-CN`.
 */
language: string, };

export type SettingsPreview = { 
/**
 * The plan that the previewed settings would give.
 */
plan: PlanReport, 
/**
 * Bytes against the plan in force (0 when nothing is loaded).
 */
deltaBytes: number, 
/**
 * Must the model be loaded again for the previewed settings?
 */
needsReload: boolean, 
/**
 * INT4, INT8, FP16.
 */
precision: Array<SettingOption>, 
/**
 * FP16, INT8, INT4.
 */
kv: Array<SettingOption>, 
/**
 * 512, 1024, ... up to the trained context, with the previewed value among them.
 */
context: Array<SettingOption>, 
/**
 * 128, 256, ... up to the context. `total_bytes` counts the KV bytes that one answer reserves.
 */
output: Array<SettingOption>, 
/**
 * 0.25 ... 0.9; `total_bytes` is the budget, `context_tokens` the largest context in it.
 */
memoryFraction: Array<SettingOption>, };

/** Every command: its arguments and its result. */
export interface Commands {
  app_info: { args: null; result: AppInfo };
  doctor: { args: null; result: DoctorReport };
  models_list: { args: null; result: ModelEntry[] };
  model_import_dialog: { args: null; result: ModelEntry | null };
  model_import: { args: string; result: ModelEntry };
  model_load: { args: string; result: ModelStatus };
  model_unload: { args: null; result: ModelStatus };
  model_status: { args: null; result: ModelStatus };
  settings_get: { args: null; result: Settings };
  settings_preview: { args: Settings; result: SettingsPreview };
  settings_apply: { args: Settings; result: ModelStatus };
  memory_gauge: { args: null; result: MemoryGauge };
  conversation_get: { args: null; result: ConversationView };
  conversation_new: { args: null; result: ConversationView };
  conversation_select_sibling: { args: SelectSibling; result: ConversationView };
  conversation_drop_messages: { args: DropMessages; result: ConversationView };
  draft_save: { args: DraftSave; result: null };
  prompt_check: { args: PromptCheckRequest; result: PromptCheck };
  generation_send: { args: SendRequest; result: Accepted };
  generation_stop: { args: number; result: null };
  generation_snapshot: { args: number; result: GenerationSnapshot };
  log_ui: { args: string; result: null };
  open_link: { args: string; result: null };
}
