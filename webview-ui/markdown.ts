import DOMPurify from 'dompurify';
import MarkdownIt from 'markdown-it';
import { withoutHidden } from '../src/ui/hiddenCharacters';
import { safeHref } from '../src/ui/safeLink';
import { type CopyTexts, copyButton, h } from './dom';

/**
 * Text of models and members as page content. Three walls, each enough alone for what we know of: the
 * parser takes no HTML, the sanitiser keeps only the elements below, and the page's content security
 * policy loads nothing.
 */

const TAGS = [
  'p br hr h1 h2 h3 h4 h5 h6 strong em s del',
  'code pre ul ol li blockquote a table thead tbody tr th td',
]
  .join(' ')
  .split(' ');

export interface MarkdownTexts extends CopyTexts {
  imageLeftOut: string;
}

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
// Their definitions would not be drawn.
parser.disable('reference');
// Only what is written as an address is one: `notes.md` is a file, not a site in Moldova.
parser.linkify?.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
parser.validateLink = (url) => safeHref(url) !== undefined;

/** @returns the rendered text, detached; nothing in it loads, runs or navigates */
export function renderMarkdown(text: string, texts: MarkdownTexts): DocumentFragment {
  // An image is named, never fetched: its address alone could carry data out.
  parser.renderer.rules.image = (tokens, index) => {
    const token = tokens[index];
    const alt = parser.utils.escapeHtml(token?.content ?? '');
    const src = safeHref(String(token?.attrGet('src') ?? ''));
    const title = String(token?.attrGet('title') ?? '');
    const note = parser.utils.escapeHtml(
      [texts.imageLeftOut, title].filter((each) => each !== '').join(': '),
    );
    const named = alt === '' ? note : `${alt} (${note})`;
    const left = parser.utils.escapeHtml(String(token?.attrGet('src') ?? ''));
    return src === undefined ? `${named} ${left}` : `<a href="${parser.utils.escapeHtml(src)}">${named}</a>`;
  };
  // What stands behind the fence's opening is a part of the text as well.
  parser.renderer.rules.fence = (tokens, index) => {
    const { content = '', info = '' } = tokens[index] ?? {};
    const [code, about] = [content, info.trim()].map((each) => parser.utils.escapeHtml(each));
    return `<pre title="${about}"><code>${code}</code></pre>`;
  };
  const fragment = DOMPurify.sanitize(parser.render(withoutHidden(text)), {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ['href', 'start', 'title'],
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
    ALLOW_ARIA_ATTR: false,
    ALLOW_DATA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll('a')) {
    // A title would be seen by a pointer that waits, and by nobody else.
    if (link.title !== '') link.after(` (${link.title})`);
    const href = safeHref(link.getAttribute('href') ?? '');
    if (href === undefined) {
      link.removeAttribute('href');
      continue;
    }
    link.setAttribute('href', href);
    link.title = href;
  }
  for (const block of fragment.querySelectorAll('pre')) {
    const frame = document.createElement('div');
    frame.className = 'code';
    block.replaceWith(frame);
    block.tabIndex = 0;
    if (block.title !== '') frame.append(h('div', { class: 'about' }, block.title));
    block.removeAttribute('title');
    frame.append(
      block,
      copyButton(() => block.textContent ?? '', texts),
    );
  }
  for (const table of fragment.querySelectorAll('table')) {
    const frame = document.createElement('div');
    frame.className = 'wide';
    table.replaceWith(frame);
    frame.append(table);
  }
  return fragment;
}
