// Markdown of a finished answer as HTML. Pure text to text, so that it runs in a worker; `sanitize.ts` has the
// last word on what reaches the page.
import { Marked } from 'marked';

import { highlight } from './highlight';
import { pictureText } from './frame';
import { safeAddress } from './links';
import { escapeHtml, mathExtension } from './math';

const marked = new Marked(
  // One line break of a model is one line break on the page, as in the live renderer.
  { gfm: true, breaks: true },
  {
    renderer: {
      // Raw HTML of a model is text; only the line break, which tables need, is taken at its word.
      html: ({ text }) => (/^<br\s*\/?>$/i.test(text) ? '<br>' : escapeHtml(text)),
      image: ({ href, text }) => `<span class="picture">${escapeHtml(pictureText(text, href))}</span>`,
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = safeAddress(href);
        return address === null ? `<span>${text}</span>` : `<a href="${escapeHtml(address)}">${text}</a>`;
      },
      code({ text, lang }) {
        const language = (lang ?? '').trim().split(/\s/, 1)[0] ?? '';
        return `<pre data-language="${escapeHtml(language)}"><code>${highlight(text, language)}</code></pre>\n`;
      },
      checkbox: ({ checked }) => `<span class="task">${checked ? '☑' : '☐'} </span>`,
    },
  },
  mathExtension,
);

export function renderSettled(text: string): string {
  return marked.parse(text, { async: false });
}
