import { revealed, revealedPieces } from '../src/ui/hiddenCharacters';

/** Small helpers to build the page without a framework and without HTML strings. */

type Attributes = Readonly<Record<string, string | boolean | undefined>>;
type Child = Node | string | undefined;

/**
 * An element with attributes and children. `true` sets an empty attribute, `false` and undefined none. Texts may be of
 * models and strangers: what would not be seen in them, or would turn their direction, is named where it stands.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes?: Attributes,
  ...children: Child[]
): HTMLElementTagNameMap[K];
export function h(tag: string, attributes?: Attributes, ...children: Child[]): HTMLElement;
export function h(tag: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : name === 'title' ? revealed(value) : value);
  }
  for (const child of children) {
    if (typeof child === 'string') element.append(...visible(child));
    else if (child !== undefined) element.append(child);
  }
  return element;
}

const MOST_MARKS = 1000;

/** A text as page content: see {@link h}. */
export function visible(text: string): (string | HTMLElement)[] {
  const pieces = revealedPieces(text);
  // Beyond so many, each as an element of its own would only be slow.
  const rest = pieces.splice(MOST_MARKS).map((piece) => (piece.isHidden ? `[${piece.text}]` : piece.text));
  const marked = pieces.map((piece) => {
    if (!piece.isHidden) return piece.text;
    const mark = document.createElement('span');
    mark.className = 'hidden-character';
    mark.textContent = piece.text;
    return mark;
  });
  return rest.length === 0 ? marked : [...marked, rest.join('')];
}

/** A codicon; it says nothing to screen readers, so a text has to stand beside it. */
export function icon(name: string, modifier = ''): HTMLElement {
  return h('span', { class: `codicon codicon-${name} ${modifier}`.trim(), 'aria-hidden': 'true' });
}

/** Text for screen readers only. */
export function spoken(text: string): HTMLElement {
  return h('span', { class: 'spoken' }, text);
}

/** A button of the toolkit. `appearance` is `primary`, `secondary` or `icon`; an icon button needs a `label`. */
export function button(
  options: { appearance: 'primary' | 'secondary' | 'icon'; label: string; icon?: string; title?: string },
  onClick: () => void,
): HTMLElement {
  const { appearance, label, title } = options;
  const element = h('vscode-button', { appearance, title, 'aria-label': label });
  if (options.icon !== undefined) {
    const picture = icon(options.icon);
    if (appearance !== 'icon') picture.setAttribute('slot', 'start');
    element.append(picture);
  }
  if (appearance !== 'icon') element.append(label);
  element.addEventListener('click', onClick);
  return element;
}

export interface CopyTexts {
  copy: string;
  copied: string;
  copyFailed: string;
}

/** Milliseconds for which a copy button says how it went. */
const COPY_SAID_MS = 1500;

/** A button that copies what `text` gives when it is pressed, and says on itself whether that worked. */
export function copyButton(text: () => string, texts: CopyTexts): HTMLElement {
  const element = h('button', { class: 'copy', type: 'button', title: texts.copy, 'aria-label': texts.copy });
  const say = (name: string, label: string) => {
    element.replaceChildren(icon(name));
    element.title = label;
    element.setAttribute('aria-label', label);
  };
  say('copy', texts.copy);
  element.addEventListener('click', () => {
    navigator.clipboard
      .writeText(text())
      .then(
        () => say('check', texts.copied),
        () => say('error', texts.copyFailed),
      )
      .finally(() => setTimeout(() => say('copy', texts.copy), COPY_SAID_MS));
  });
  return element;
}
