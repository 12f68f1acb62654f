import { describe, expect, it } from 'vitest';

import { codeOf } from './frame';
import { safeAddress } from './links';
import { LiveMarkdown } from './live';
import { sanitize } from './sanitize';
import { renderSettled } from './settled';

const LABELS = { copy: 'Copy', plainText: 'text' };

function live(text: string, step = 3): HTMLElement {
  const root = document.createElement('div');
  const renderer = new LiveMarkdown(root, LABELS);
  for (let at = 0; at < text.length; at += step) renderer.write(text.slice(at, at + step));
  renderer.end();
  return root;
}

function settled(text: string): HTMLElement {
  const root = document.createElement('div');
  root.append(sanitize(renderSettled(text), LABELS));
  return root;
}

const HOSTILE = [
  '<script>window.hit = true</script>',
  'text <img src=x onerror="window.hit = true"> text',
  '<svg onload="window.hit = true"><script>window.hit = true</script></svg>',
  '<svg><use href="data:image/svg+xml,<svg onload=1>"></use></svg>',
  '<iframe src="https://example.org"></iframe>',
  '<a href="javascript:window.hit = true">click</a>',
  '[click](javascript:window.hit=true)',
  '[click](  JaVaScRiPt:window.hit=true)',
  '[click](java\nscript:window.hit=true)',
  '[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
  '[click](vbscript:msgbox)',
  '[click](file:///etc/passwd)',
  '[click](tauri://localhost)',
  '![x](javascript:window.hit=true)',
  '![x](https://example.org/pixel.png)',
  '![x" onerror="window.hit=true](https://example.org/a.png)',
  '<style>body { display: none }</style>',
  '<form action="https://example.org"><input name="a"><button>b</button></form>',
  '<math><mtext><style><img src=x onerror=window.hit=true></style></mtext></math>',
  '```html"><img src=x onerror=window.hit=true>\ncode\n```',
  '$\\href{javascript:window.hit=true}{x}$',
  '$\\includegraphics{https://example.org/a.png}$',
  '$$\\htmlStyle{background: url(https://example.org)}{x}$$',
  '<div style="position:fixed;inset:0">over everything</div>',
  '<!-- --><base href="https://example.org/">',
  '<a href="https://example.org" target="_blank" onclick="window.hit=true">x</a>',
];

describe.each([
  ['live', live],
  ['settled', settled],
] as const)('the %s renderer', (_, render) => {
  it.each(HOSTILE)('makes nothing that acts of %s', (text) => {
    const root = render(text);
    document.body.append(root);
    const elements = [...root.querySelectorAll('*')];
    const names = new Set(elements.map((element) => element.localName));
    for (const name of [
      'script',
      'style',
      'img',
      'iframe',
      'form',
      'input',
      'base',
      'object',
      'embed',
      'use',
      'image',
    ]) {
      expect(names).not.toContain(name);
    }
    for (const element of elements) {
      for (const { name, value } of element.attributes) {
        expect(name).not.toMatch(/^on|^src|^action|^formaction|^target|^id$/);
        expect(value).not.toMatch(/javascript:|data:|url\(/i);
      }
      const address = element.getAttribute('href');
      if (address !== null) expect(address).toMatch(/^(?:https?|mailto):/);
    }
    root.remove();
    expect((window as { hit?: boolean }).hit).toBeUndefined();
  });

  it('shows a picture as its words and its address, and fetches nothing', () => {
    const root = render('before ![a chart](https://example.org/chart.png) after');
    expect(root.textContent).toContain('a chart');
    expect(root.textContent).toContain('https://example.org/chart.png');
    expect(root.querySelector('img, picture, [src]')).toBeNull();
  });

  it('frames code with its language and gives it back whole', () => {
    const code = 'fn main() {\n    println!("<b>&amp;</b>");\n}';
    const root = render('```rust\n' + code + '\n```\n');
    const button = root.querySelector('.code-frame .code-copy');
    expect(root.querySelector('.code-language')?.textContent).toBe('rust');
    expect(button && codeOf(button)?.trimEnd()).toBe(code);
  });

  it('keeps web and mail links', () => {
    const root = render('[a](https://example.org/x?y=1) [b](mailto:a@example.org)');
    const addresses = [...root.querySelectorAll('a')].map((link) => link.getAttribute('href'));
    expect(addresses).toEqual(['https://example.org/x?y=1', 'mailto:a@example.org']);
  });
});

/** What both renderers must agree on: the blocks, in order, and the text, formulas as their source. */
function outline(root: HTMLElement): string[] {
  const copy = root.cloneNode(true) as HTMLElement;
  for (const bar of copy.querySelectorAll('.code-bar')) bar.remove();
  for (const formula of copy.querySelectorAll('.katex')) {
    formula.replaceWith(formula.querySelector('annotation')?.textContent?.trim() ?? '');
  }
  for (const formula of copy.querySelectorAll('.math'))
    formula.textContent = formula.textContent?.trim() ?? '';
  for (const line of copy.querySelectorAll('br')) line.replaceWith(' ');
  const blocks: string[] = [];
  const text = (element: Element): string => (element.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
  for (const element of copy.querySelectorAll('p, h1, h2, h3, h4, h5, h6, li, pre, th, td, hr, blockquote')) {
    // A tight list item has no paragraph in one renderer and one in the other; its text is what counts.
    if (element.localName === 'p' && element.closest('li, blockquote')) continue;
    if (element.localName === 'li' && element.querySelector('li')) {
      const own = element.cloneNode(true) as Element;
      for (const nested of own.querySelectorAll('ul, ol')) nested.remove();
      blocks.push(`li: ${text(own)}`);
      continue;
    }
    blocks.push(`${element.localName}: ${text(element)}`);
  }
  return blocks;
}

const CORPUS: [string, string][] = [
  ['paragraphs', 'One.\n\nTwo with *em*, **strong**, `code` and ~~gone~~.\n'],
  ['headings', '# One\n\nText.\n\n## Two\n\n### Three\n'],
  ['a list', '- one\n- two\n- three\n'],
  ['a numbered list', '1. one\n2. two\n3. three\n'],
  ['a nested list', '- one\n  - deeper\n  - more\n- two\n'],
  ['a task list', '- [x] done\n- [ ] open\n'],
  ['a quote', '> A quoted line.\n\nAfter.\n'],
  ['code', 'Before.\n\n```python\ndef f(x):\n    return x * 2\n```\n\nAfter.\n'],
  ['code without a language', '```\nplain <b>text</b>\n```\n'],
  ['a table', '| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n'],
  ['a rule', 'Above.\n\n---\n\nBelow.\n'],
  ['raw HTML', 'Text <b>bold</b> and <br> more.\n'],
  ['a link', 'See [the page](https://example.org) for more.\n'],
  ['an unsafe link', 'See [the page](javascript:alert) for more.\n'],
  ['inline formulas', 'Mass and energy: \\(E = mc^2\\) and $a + b$ here.\n'],
  ['a display formula', 'Then\n\n$$\nx = y + z\n$$\n\nfollows.\n'],
  ['money', 'It costs $5 today and $7 tomorrow.\n'],
  ['Chinese', '**载重线**画在船体两侧。\n\n- 夏季\n- 冬季\n'],
  ['emoji', 'A family 👨‍👩‍👧‍👦 and a flag 🇳🇴 here.\n'],
  ['soft breaks', 'one\ntwo\nthree\n'],
];

describe('live and settled', () => {
  it.each(CORPUS)('agree on %s', (_, text) => {
    expect(outline(live(text))).toEqual(outline(settled(text)));
  });

  it.each([1, 2, 7, 1000])('does not depend on where the stream is cut (%d)', (step) => {
    const text = CORPUS.map(([, part]) => part).join('\n');
    expect(live(text, step).innerHTML).toBe(live(text, 3).innerHTML);
  });
});

describe('settled', () => {
  it('highlights a known language and leaves an unknown one alone', () => {
    expect(settled('```rust\nlet x = 1;\n```').querySelector('.hljs-keyword')?.textContent).toBe('let');
    expect(settled('```klingon\nlet x = 1;\n```').querySelector('[class^=hljs]')).toBeNull();
  });

  it('draws formulas, with their positions set through the object model', () => {
    const root = settled('$$\n\\frac{a}{b}\n$$');
    expect(root.querySelector('.katex-display math')).not.toBeNull();
    expect(root.querySelector('[data-style]')).toBeNull();
    expect(root.querySelector<HTMLElement>('.vlist > span')?.style.top).toMatch(/em$/);
  });

  it('shows a broken formula as it was written', () => {
    expect(settled('$\\frac{a$ and on').textContent).toContain('\\frac{a');
  });

  it.each(['It costs $5 and $10.', 'from $HOME to $PATH', 'a $ b $ c'])(
    'leaves the dollars of “%s”',
    (text) => {
      expect(settled(text).textContent?.trim()).toBe(text);
    },
  );

  it('survives a text of a hundred thousand characters', () => {
    expect(settled('word '.repeat(20_000)).textContent?.length).toBeGreaterThan(90_000);
  });
});

it.each([
  ['https://example.org', 'https://example.org/'],
  ['HTTP://EXAMPLE.ORG/a b', 'http://example.org/a%20b'],
  ['mailto:a@b.c', 'mailto:a@b.c'],
  ['javascript:1', null],
  ['//example.org', null],
  ['/settings', null],
  ['#top', null],
  ['', null],
])('the address %s becomes %s', (address, expected) => {
  expect(safeAddress(address)).toBe(expected);
});
