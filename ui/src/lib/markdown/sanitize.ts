// The gate between a string of HTML and the page.
import DOMPurify from 'dompurify';

import type { MarkdownLabels } from './frame';
import { frameCode } from './frame';
import { safeAddress } from './links';

const FORBIDDEN_TAGS = [
  'style',
  'form',
  'input',
  'button',
  'textarea',
  'select',
  'img',
  'picture',
  'video',
  'audio',
  'iframe',
];
const ALLOWED_STYLE = /^(?:[a-z-]+:\s*-?[\w.%]+\s*(?:;\s*|$))*$/;

/** Clean nodes, ready for the page: links checked, code framed, tables scrollable. */
export function sanitize(html: string, labels: MarkdownLabels): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, {
    RETURN_DOM_FRAGMENT: true,
    USE_PROFILES: { html: true, mathMl: true, svg: true },
    FORBID_TAGS: FORBIDDEN_TAGS,
    FORBID_ATTR: ['style', 'id', 'name', 'srcset', 'src', 'action', 'formaction'],
    ALLOW_DATA_ATTR: false,
    // The formula's source, for copying and for screen readers. A fragment is never parsed again, so it cannot turn.
    ADD_TAGS: ['semantics', 'annotation'],
    ADD_ATTR: ['data-language', 'data-style'],
    // `top:-2em` looks like an address with the scheme `top`.
    ADD_URI_SAFE_ATTR: ['data-style'],
  });
  for (const link of fragment.querySelectorAll('a')) {
    const address = safeAddress(link.getAttribute('href') ?? '');
    if (address === null) link.removeAttribute('href');
    link.removeAttribute('target');
  }
  for (const styled of fragment.querySelectorAll<HTMLElement>('[data-style]')) placeStyle(styled);
  for (const pre of fragment.querySelectorAll<HTMLElement>('pre')) {
    frameCode(pre, pre.dataset.language ?? '', labels);
    delete pre.dataset.language;
  }
  for (const table of fragment.querySelectorAll('table')) {
    const scroller = table.ownerDocument.createElement('div');
    scroller.className = 'table-scroll';
    scroller.tabIndex = 0;
    table.replaceWith(scroller);
    scroller.append(table);
  }
  return fragment;
}

/**
 * KaTeX positions glyphs by style attributes. They are set through the object model, which a content security
 * policy without inline styles allows, and only inside a formula and only as plain lengths.
 */
function placeStyle(element: HTMLElement): void {
  const style = element.getAttribute('data-style') ?? '';
  element.removeAttribute('data-style');
  if (!element.closest('.katex') || !ALLOWED_STYLE.test(style)) return;
  for (const part of style.split(';')) {
    const [property, value] = part.split(':', 2);
    if (property && value) element.style?.setProperty(property.trim(), value.trim());
  }
}
