import type { Locale } from '$lib/paraglide/runtime.js';
import { baseLocale, locales, overwriteGetLocale } from '$lib/paraglide/runtime.js';

export type { Locale };

/** The language of the page. Messages read it, so that every text follows a change at once. */
class LocaleState {
  current = $state<Locale>(baseLocale);
}

export const locale = new LocaleState();

overwriteGetLocale(() => locale.current);

/** The language for a setting (`auto`, `en`, `zh-CN`) on a system with this language tag. */
export function resolveLocale(setting: string, systemTag: string): Locale {
  const exact = locales.find((known) => known === setting);
  if (exact) return exact;
  const language = systemTag.toLowerCase().split(/[-_]/, 1)[0];
  return locales.find((known) => known.toLowerCase().split('-', 1)[0] === language) ?? baseLocale;
}
