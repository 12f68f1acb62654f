// A text box as tall as its text, from one line to eight. WebKitGTK has no `field-sizing`.

const MOST_LINES = 8;

/** Beyond this the text fills the box anyway, and laying it out only to measure would freeze the page. */
const MEASURED_CHARACTERS = 4000;

export function fitRows(box: HTMLTextAreaElement): void {
  if (box.value.length > MEASURED_CHARACTERS) {
    box.style.height = '';
    box.rows = MOST_LINES;
    return;
  }
  box.rows = 1;
  box.style.height = 'auto';
  const style = getComputedStyle(box);
  const line = parseFloat(style.lineHeight);
  const padding = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
  if (!Number.isFinite(line) || !Number.isFinite(padding)) return;
  box.style.height = `${Math.min(box.scrollHeight, Math.ceil(line * MOST_LINES + padding))}px`;
}
