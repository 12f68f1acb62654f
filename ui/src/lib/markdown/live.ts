// Markdown while it arrives: append-only, so a frame's work does not grow with the answer. Elements are made by
// name and filled by textContent; no string of the model is ever parsed as HTML.
import * as smd from 'streaming-markdown';

import type { MarkdownLabels } from './frame';
import { frameCode, nameLanguage, pictureText } from './frame';
import { safeAddress } from './links';

const TAGS = new Map<smd.Token, string>([
  [smd.PARAGRAPH, 'p'],
  [smd.HEADING_1, 'h1'],
  [smd.HEADING_2, 'h2'],
  [smd.HEADING_3, 'h3'],
  [smd.HEADING_4, 'h4'],
  [smd.HEADING_5, 'h5'],
  [smd.HEADING_6, 'h6'],
  [smd.BLOCKQUOTE, 'blockquote'],
  [smd.LINE_BREAK, 'br'],
  [smd.RULE, 'hr'],
  [smd.ITALIC_AST, 'em'],
  [smd.ITALIC_UND, 'em'],
  [smd.STRONG_AST, 'strong'],
  [smd.STRONG_UND, 'strong'],
  [smd.STRIKE, 'del'],
  [smd.CODE_INLINE, 'code'],
  [smd.LINK, 'a'],
  [smd.RAW_URL, 'a'],
  [smd.LIST_UNORDERED, 'ul'],
  [smd.LIST_ORDERED, 'ol'],
  [smd.LIST_ITEM, 'li'],
]);

/** An answer that is being written into `root`. */
export class LiveMarkdown {
  #parser: smd.Parser;

  constructor(
    private readonly root: HTMLElement,
    private readonly labels: MarkdownLabels,
  ) {
    this.#parser = smd.parser(createRenderer(root, labels));
  }

  write(text: string): void {
    smd.parser_write(this.#parser, text);
  }

  end(): void {
    smd.parser_end(this.#parser);
  }

  /** Starts again with another text. */
  replace(text: string): void {
    this.root.replaceChildren();
    this.#parser = smd.parser(createRenderer(this.root, this.labels));
    this.write(text);
  }
}

interface RendererData {
  /** Open elements, the innermost last. */
  open: HTMLElement[];
}

function createRenderer(root: HTMLElement, labels: MarkdownLabels): smd.Renderer<RendererData> {
  const data: RendererData = { open: [root] };
  const innermost = () => data.open.at(-1) ?? root;
  return {
    data,
    add_token(_, token) {
      if (token === smd.DOCUMENT) return;
      data.open.push(openElement(innermost(), token, labels));
    },
    end_token() {
      if (data.open.length > 1) data.open.pop();
    },
    add_text(_, text) {
      innermost().append(text);
    },
    set_attr(_, attribute, value) {
      setAttribute(innermost(), attribute, value, labels);
    },
  };
}

function openElement(parent: HTMLElement, token: smd.Token, labels: MarkdownLabels): HTMLElement {
  const document = parent.ownerDocument;
  const append = (name: string, className?: string): HTMLElement => {
    const element = document.createElement(name);
    if (className) element.className = className;
    parent.append(element);
    return element;
  };
  switch (token) {
    case smd.CODE_BLOCK:
    case smd.CODE_FENCE: {
      const pre = append('pre');
      frameCode(pre, '', labels);
      return pre.appendChild(document.createElement('code'));
    }
    case smd.TABLE: {
      const scroller = append('div', 'table-scroll');
      scroller.tabIndex = 0;
      return scroller.appendChild(document.createElement('table'));
    }
    case smd.TABLE_ROW: {
      const head = parent.querySelector(':scope > thead');
      const body = parent.querySelector(':scope > tbody');
      const section = !head ? append('thead') : (body ?? append('tbody'));
      return section.appendChild(document.createElement('tr'));
    }
    case smd.TABLE_CELL:
      return append(parent.parentElement?.tagName === 'THEAD' ? 'th' : 'td');
    case smd.CHECKBOX: {
      const box = append('span', 'task');
      box.textContent = '☐ ';
      return box;
    }
    case smd.EQUATION_BLOCK:
      return append('span', 'math math-display');
    case smd.EQUATION_INLINE:
      return append('span', 'math');
    case smd.IMAGE:
      return append('span', 'picture');
    default:
      return append(TAGS.get(token) ?? 'span');
  }
}

function setAttribute(
  element: HTMLElement,
  attribute: smd.Attr,
  value: string,
  labels: MarkdownLabels,
): void {
  switch (attribute) {
    case smd.HREF: {
      const address = safeAddress(value);
      if (address !== null) element.setAttribute('href', address);
      break;
    }
    case smd.SRC:
      element.textContent = pictureText(element.textContent ?? '', value);
      break;
    case smd.LANG: {
      const frame = element.closest('.code-frame');
      if (frame) nameLanguage(frame, value.trim().split(/\s/, 1)[0] ?? '', labels);
      break;
    }
    case smd.CHECKED:
      element.textContent = '☑ ';
      break;
    case smd.START:
      if (/^\d{1,9}$/.test(value)) element.setAttribute('start', value);
      break;
  }
}
