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
  const addresses = new Map<string, number>();
  for (const link of rendered.querySelectorAll('a')) {
    const href = link.getAttribute('href') ?? '';
    if (href === link.textContent) addresses.set(href, (addresses.get(href) ?? 0) + 1);
    else addAll(shown, wordCounts(href), 1);
  }
  // An address that is the text of its link is drawn once, and may have been written once or twice.
  for (const [href, drawn] of addresses) {
    addAll(shown, wordCounts(href), Math.max(0, text.split(href).length - 1 - drawn));
  }
  for (const [word, count] of wordCounts(text.replace(ENTITY, ' '))) {
    if ((shown.get(word) ?? 0) < count) return false;
  }
  return true;
}

/** It is drawn as the character that it means. */
const ENTITY = /&(?:[a-z][a-z0-9]{1,31}|#x?[0-9a-f]{1,6});/gi;

/** Elements part words, as the marks did that they were made from. */
function textOf(fragment: DocumentFragment): string {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const texts: string[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode.nodeValue ?? '');
  return texts.join(' ');
}

/** Words with a letter in them, whatever their case: a host is drawn in small letters. */
function wordCounts(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const plain = text.replace(/(?:%[0-9a-f]{2})+/gi, decoded).toLowerCase();
  for (const [word] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (/\p{L}/u.test(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

function addAll(counts: Map<string, number>, more: ReadonlyMap<string, number>, times: number): void {
  for (const [word, count] of more) counts.set(word, (counts.get(word) ?? 0) + count * times);
}

/** Of an address, as a page shows it. */
function decoded(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    // No text that anybody encoded.
    return ' ';
  }
}
