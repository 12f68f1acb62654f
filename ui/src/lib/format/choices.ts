// Names of choices that the contract knows by their value.
import type { KvChoice, PrecisionChoice } from '$lib/ipc';
import { m } from '$lib/paraglide/messages.js';

/** `int4` as the field writes it. */
export function precisionName(value: PrecisionChoice | KvChoice | string): string {
  return value === 'auto' ? m.choice_auto() : value.toUpperCase();
}

/** Why an option cannot be chosen. */
export function unavailableReason(reason: string | null): string | null {
  switch (reason) {
    case null:
      return null;
    case 'file_precision':
      return m.reason_file_precision();
    case 'above_trained':
      return m.reason_above_trained();
    case 'over_budget':
      return m.reason_over_budget();
    case 'not_built':
      return m.reason_not_built();
    default:
      return reason;
  }
}
