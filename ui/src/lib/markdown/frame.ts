// The one look of code blocks and pictures, whichever renderer made them.

/** Words that the renderers need, given from outside so that they know no language. */
export interface MarkdownLabels {
  copy: string;
  plainText: string;
}

const NAME = /^[\w+#.-]{1,24}$/;

/** Puts a bar with the language and a copy button over a `<pre>`. */
export function frameCode(pre: HTMLElement, language: string, labels: MarkdownLabels): HTMLElement {
  const document = pre.ownerDocument;
  const frame = document.createElement('div');
  frame.className = 'code-frame';
  const bar = document.createElement('div');
  bar.className = 'code-bar';
  const name = document.createElement('span');
  name.className = 'code-language';
  const copy = document.createElement('button');
  copy.type = 'button';
  copy.className = 'code-copy';
  copy.textContent = labels.copy;
  bar.append(name, copy);
  pre.replaceWith(frame);
  frame.append(bar, pre);
  nameLanguage(frame, language, labels);
  // A block that scrolls sideways must be reachable without a pointer.
  pre.tabIndex = 0;
  return frame;
}

/** Writes the language into a frame's bar, also when it becomes known after the frame. */
export function nameLanguage(frame: Element, language: string, labels: MarkdownLabels): void {
  const name = frame.querySelector('.code-language');
  if (name) name.textContent = NAME.test(language) ? language : labels.plainText;
}

/** The code of the block whose copy button is `button`. */
export function codeOf(button: Element): string | null {
  return button.closest('.code-frame')?.querySelector('pre')?.textContent ?? null;
}

/** What stands for a picture: pictures are never fetched. */
export function pictureText(alt: string, address: string): string {
  return alt === '' ? `[${address}]` : `[${alt}: ${address}]`;
}
