// Admission before Send in the scripted backend: counts, refuses with numbers, and offers ways out that work.
import type { PromptCheck, PromptCheckRequest, Remedy, Settings } from '../generated';
import { countTokens, pieces } from './answers';
import type { FakeModel } from './catalogue';
import { kvBytes, planOf } from './pricing';
import type { FakeConversation } from './tree';

const SYSTEM_TOKENS = 31;
const TURN_TOKENS = 5;
const SMALLEST_ANSWER = 32;

export interface AdmissionInput {
  model: FakeModel | null;
  settings: Settings;
  conversation: FakeConversation;
  busy: boolean;
}

export function promptTokens(conversation: FakeConversation, draft: string): number {
  return (
    SYSTEM_TOKENS +
    conversation
      .branch()
      .filter((node) => !node.dropped && node.text !== '')
      .reduce((sum, node) => sum + countTokens(node.text) + TURN_TOKENS, 0) +
    (draft === '' ? 0 : countTokens(draft) + TURN_TOKENS)
  );
}

export function check(input: AdmissionInput, request: PromptCheckRequest): PromptCheck {
  const { model, settings, conversation } = input;
  const prompt = promptTokens(conversation, request.draft);
  const output = request.outputTokens ?? settings.outputTokens;
  const context = settings.contextTokens;
  const cached = conversation.branch().length > 0 ? promptTokens(conversation, '') : 0;
  const result: PromptCheck = {
    request: request.request,
    promptTokens: prompt,
    draftTokens: countTokens(request.draft),
    cachedTokens: Math.min(cached, prompt),
    outputTokens: output,
    contextTokens: context,
    reserveBytes: model ? kvBytes(model, settings.kv, prompt + output) : 0,
    allowed: false,
    refusal: null,
    remedies: [],
  };
  const refuse = (
    code: 'no_model' | 'busy' | 'empty_prompt' | 'output_limit_exceeded' | 'context_exceeded',
  ) => {
    const numbers = { prompt, output, context, excess: Math.max(0, prompt + output - context) };
    const extra = { wanted: output, limit: settings.outputTokens };
    result.refusal = { code, message: code, detail: null, numbers: { ...numbers, ...extra } };
    return result;
  };
  if (!model) return refuse('no_model');
  if (input.busy) return refuse('busy');
  if (request.draft.trim() === '') return refuse('empty_prompt');
  if (output > settings.outputTokens) {
    result.remedies.push({
      kind: 'shorten_answer',
      outputTokens: settings.outputTokens,
      gainTokens: output - settings.outputTokens,
    });
    return refuse('output_limit_exceeded');
  }
  if (prompt + output > context) {
    result.remedies = remedies(input, model, request.draft, prompt, output);
    return refuse('context_exceeded');
  }
  result.allowed = true;
  return result;
}

function remedies(
  input: AdmissionInput,
  model: FakeModel,
  draft: string,
  prompt: number,
  output: number,
): Remedy[] {
  const { settings, conversation } = input;
  const context = settings.contextTokens;
  const found: Remedy[] = [];
  if (prompt + SMALLEST_ANSWER <= context) {
    found.push({
      kind: 'shorten_answer',
      outputTokens: context - prompt,
      gainTokens: prompt + output - context,
    });
  }
  const turns = conversation.branch().filter((node) => !node.dropped);
  const dropped = { messages: [] as number[], names: [] as string[], gainTokens: 0 };
  for (
    let index = 0;
    index + 1 < turns.length && prompt - dropped.gainTokens + output > context;
    index += 2
  ) {
    for (const node of turns.slice(index, index + 2)) {
      dropped.messages.push(node.id);
      dropped.gainTokens += countTokens(node.text) + TURN_TOKENS;
    }
    dropped.names.push(firstWords(turns[index]?.text ?? ''));
  }
  if (dropped.messages.length > 0 && prompt - dropped.gainTokens + output <= context) {
    found.push({ kind: 'drop_oldest_turns', ...dropped });
  }
  const wanted = Math.ceil((prompt + output) / 512) * 512;
  const plan = planOf(model, { ...settings, contextTokens: wanted });
  if (plan.fits) {
    const cost = plan.totalBytes - planOf(model, settings).totalBytes;
    found.push({ kind: 'enlarge_context', contextTokens: wanted, costBytes: cost });
  }
  const excess = prompt + output - context;
  const keep = longestPrefix(draft, countTokens(draft) - excess);
  if (keep > 0) found.push({ kind: 'shorten_draft', keepUtf16: keep, excessTokens: excess });
  if (turns.length > 0 && SYSTEM_TOKENS + countTokens(draft) + TURN_TOKENS + output <= context) {
    found.push({
      kind: 'new_conversation',
      gainTokens: prompt - SYSTEM_TOKENS - countTokens(draft) - TURN_TOKENS,
    });
  }
  return found;
}

function firstWords(text: string): string {
  return text.length > 32 ? `${text.slice(0, 31)}…` : text;
}

/** UTF-16 length of the longest prefix with at most `tokens` tokens. */
function longestPrefix(text: string, tokens: number): number {
  let length = 0;
  let counted = 0;
  for (const piece of pieces(text)) {
    if (counted === tokens) break;
    length += piece.length;
    counted += 1;
  }
  return tokens <= 0 ? 0 : length;
}
