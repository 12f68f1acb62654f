// Which addresses a rendered answer may carry. Everything else stays text.
const SAFE = new Set(['http:', 'https:', 'mailto:']);

/** The address as the browser would open it, or `null` when it must not become a link. */
export function safeAddress(address: string): string | null {
  try {
    const url = new URL(address.trim());
    return SAFE.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
