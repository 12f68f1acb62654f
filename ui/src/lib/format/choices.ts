// Names of choices that the contract knows by their value.
import type { KvChoice, PrecisionChoice, SettingOption } from '$lib/ipc';
import { m } from '$lib/paraglide/messages.js';

/** `int4` as the field writes it. */
export function precisionName(value: PrecisionChoice | KvChoice | string): string {
  return value === 'auto' ? m.choice_auto() : value.toUpperCase();
}

/** What stands against an option, in words; `null` when nothing does. */
export function objection(option: SettingOption): string | null {
  switch (option.reason) {
    case null:
      return option.fits ? null : m.reason_no_room();
    case 'file_precision':
      return m.reason_file_precision();
    case 'above_trained':
      return m.reason_above_trained();
    case 'over_budget':
      return m.reason_over_budget();
    case 'not_built':
      return m.reason_not_built();
    default:
      return option.reason;
  }
}

/**
 * May the option be taken into the draft? One that is over the budget may: together with another change it can fit,
 * and Apply stays refused, with the numbers, until it does.
 */
export function choosable(option: SettingOption): boolean {
  if (!option.available || option.reason === 'above_trained') return false;
  return option.fits || option.reason === 'over_budget';
}
