// Formulas in marked: \(...\), \[...\], $$...$$, and $...$ where it cannot be money.
import katex from 'katex';
import type { MarkedExtension, TokenizerAndRendererExtension } from 'marked';

const LONGEST_FORMULA = 10_000;

const BLOCK = /^ {0,3}(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])[ \t]*(?:\n|$)/;
const INLINE =
  /^(?:\$\$([^\n]+?)\$\$|\\\(([^\n]+?)\\\)|\\\[([^\n]+?)\\\]|\$(?![\s$\d])((?:\\.|[^\\$\n])*?[^\\$\s])\$(?![\d$]))/;

function formula(tex: string, display: boolean): string {
  if (tex.length > LONGEST_FORMULA) return escapeHtml(tex);
  // `trust: false` keeps \href and \includegraphics out; errors show the source in place.
  const html = katex.renderToString(tex, {
    displayMode: display,
    throwOnError: false,
    trust: false,
    strict: 'ignore',
  });
  // A strict content security policy refuses style attributes even while HTML is parsed for cleaning, so they travel
  // under another name; `sanitize.ts` applies them. KaTeX escapes quotes in text, so only attributes match.
  return html.replaceAll(' style="', ' data-style="');
}

const block: TokenizerAndRendererExtension = {
  name: 'formulaBlock',
  level: 'block',
  start: (source) => source.match(/(?:^|\n) {0,3}(?:\$\$|\\\[)/)?.index,
  tokenizer(source) {
    const match = BLOCK.exec(source);
    if (!match) return undefined;
    return { type: 'formulaBlock', raw: match[0], text: (match[1] ?? match[2] ?? '').trim() };
  },
  renderer: (token) => `<p>${formula(String(token.text), true)}</p>\n`,
};

const inline: TokenizerAndRendererExtension = {
  name: 'formula',
  level: 'inline',
  start: (source) => source.match(/\$|\\[([]/)?.index,
  tokenizer(source) {
    const match = INLINE.exec(source);
    if (!match) return undefined;
    const display = match[1] !== undefined || match[3] !== undefined;
    return {
      type: 'formula',
      raw: match[0],
      text: (match[1] ?? match[2] ?? match[3] ?? match[4] ?? '').trim(),
      display,
    };
  },
  renderer: (token) => formula(String(token.text), token.display === true),
};

export const mathExtension: MarkedExtension = { extensions: [block, inline] };

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
