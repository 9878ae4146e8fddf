import { h } from './dom';
import { type MarkdownTexts, renderMarkdown } from './markdown';

/**
 * A text that somebody decides by, as Markdown; where Markdown would leave a word of it out (what is nested too deep, titles
 * of links, cells too many, and whatever else there is), as it was written.
 */
export function renderWhole(text: string, texts: MarkdownTexts & { asWritten: string }): DocumentFragment {
  const rendered = renderMarkdown(text, texts);
  if (showsAll(text, rendered)) return rendered;
  const fragment = document.createDocumentFragment();
  fragment.append(h('p', { class: 'as-written' }, texts.asWritten), h('pre', { tabindex: '0' }, text));
  return fragment;
}

/** Whether each word of a text stands in what was made of it, as often as it was written. */
function showsAll(text: string, rendered: DocumentFragment): boolean {
  const shown = wordCounts(textOf(rendered));
  for (const link of rendered.querySelectorAll('a')) {
    const href = link.getAttribute('href') ?? '';
    // An address that is its own text was written once.
    if (href !== link.textContent) for (const [word, n] of wordCounts(plainHref(href))) add(shown, word, n);
  }
  for (const [word, count] of wordCounts(text)) if ((shown.get(word) ?? 0) < count) return false;
  return true;
}

/** Elements part words, as the marks did that they were made from. */
function textOf(fragment: DocumentFragment): string {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const texts: string[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode.nodeValue ?? '');
  return texts.join(' ');
}

function wordCounts(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.matchAll(/[\p{L}\p{N}]*\p{L}[\p{L}\p{N}]*/gu)) add(counts, word, 1);
  return counts;
}

function add(counts: Map<string, number>, word: string, count: number): void {
  counts.set(word, (counts.get(word) ?? 0) + count);
}

function plainHref(href: string): string {
  try {
    return decodeURI(href);
  } catch {
    // It is no proper one: compared as it stands.
    return href;
  }
}
