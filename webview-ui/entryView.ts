import type { ConversationAction, ConversationEntry } from '../src/ui/messages';
import { CONVERSATION_ACTIONS } from '../src/ui/messages';
import type { ConversationStrings } from '../src/ui/webviewStrings';
import { button, h, icon, spoken } from './dom';
import { renderMarkdown } from './markdown';
import { renderWhole } from './wholeText';

type Entry<K extends ConversationEntry['kind']> = Extract<ConversationEntry, { kind: K }>;

export interface EntryContext {
  strings: ConversationStrings;
  act(action: ConversationAction): void;
}

/** One entry on the page. It keeps its element, so that a folded call stays as the reader left it. */
export class EntryView {
  readonly element: HTMLElement;
  #entry: ConversationEntry;
  /** What the markdown on the page was made from, and whether that was still coming. */
  #rendered: string | undefined;
  #due = false;
  /** Milliseconds the last rendering took; long texts are then drawn less often. */
  #cost = 0;

  constructor(
    entry: ConversationEntry,
    private readonly context: EntryContext,
    private readonly afterRender: () => void,
  ) {
    this.#entry = entry;
    this.element = h('article', { class: `entry ${entry.kind}` });
    this.update(entry);
  }

  update(entry: ConversationEntry): void {
    this.#entry = entry;
    switch (entry.kind) {
      case 'human':
        this.element.replaceChildren(
          spoken(this.context.strings.you),
          h('div', { class: 'bubble' }, entry.text),
        );
        return;
      case 'assistant':
        this.#assistant(entry);
        return;
      case 'tool':
        this.#tool(entry);
        return;
      case 'mail':
        this.#mail(entry);
        return;
      case 'notice':
        this.#notice(entry);
        return;
    }
  }

  /** Adds streamed text; it is drawn with the next frame, or later where drawing is costly. */
  append(text: string): void {
    if (this.#entry.kind !== 'assistant') return;
    this.#entry = { ...this.#entry, text: this.#entry.text + text };
    if (this.#due) return;
    this.#due = true;
    const draw = () => {
      this.#due = false;
      if (this.#entry.kind === 'assistant') this.#assistant(this.#entry);
    };
    if (this.#cost < 8) requestAnimationFrame(draw);
    else setTimeout(draw, this.#cost * 5);
  }

  #assistant(entry: Entry<'assistant'>): void {
    const { strings } = this.context;
    let body = this.element.querySelector<HTMLElement>('.markdown');
    if (body === null) {
      body = h('div', { class: 'markdown' });
      const who = h('header', { class: 'who' }, icon('hubot'), h('span', {}, strings.lead));
      this.element.replaceChildren(who, body);
    }
    const head = this.element.querySelector('.who');
    const badge = head?.querySelector('.tag');
    if (entry.demo && !badge)
      head?.append(h('span', { class: 'tag', title: strings.demoHint }, strings.demo));
    else if (!entry.demo) badge?.remove();
    this.element.classList.toggle('streaming', entry.streaming);
    // A reader's voice waits until the text is whole.
    this.element.setAttribute('aria-busy', String(entry.streaming));
    const drawn = `${entry.streaming} ${entry.text}`;
    if (this.#rendered === drawn) return;
    const before = performance.now();
    body.replaceChildren((entry.streaming ? renderMarkdown : renderWhole)(entry.text, strings));
    this.#cost = performance.now() - before;
    this.#rendered = drawn;
    this.afterRender();
  }

  #tool(entry: Entry<'tool'>): void {
    const { strings } = this.context;
    const states = {
      running: { icon: icon('loading', 'codicon-modifier-spin'), said: strings.running },
      waiting: { icon: icon('question'), said: strings.waiting },
      done: { icon: icon('check'), said: strings.done },
      error: { icon: icon('error'), said: strings.failed },
    };
    const state = states[entry.state];
    const summary = h(
      'summary',
      { class: `row ${entry.state}` },
      icon('chevron-right', 'twist'),
      state.icon,
      h('code', { class: 'name' }, entry.name),
      h('span', { class: 'about', title: entry.summary }, entry.summary),
      spoken(state.said),
    );
    const parts: HTMLElement[] = [];
    if (entry.input !== '') parts.push(labelled(strings.toolInput, entry.input));
    if (entry.result !== undefined && entry.result !== '') {
      parts.push(labelled(strings.toolResult, entry.result));
    }
    const folded = h('details', { open: this.#isOpen() }, summary, h('div', { class: 'detail' }, ...parts));
    this.element.replaceChildren(folded);
    if (entry.state !== 'waiting') return;
    const review = button({ appearance: 'secondary', label: strings.review }, () =>
      this.context.act('open_requests'),
    );
    this.element.append(h('div', { class: 'ask' }, h('span', {}, strings.waiting), review));
  }

  #mail(entry: Entry<'mail'>): void {
    const { strings } = this.context;
    const type = mailLabel(entry.type, strings);
    const preview = entry.text.replace(/^#+ /gm, '').replace(/\s+/g, ' ').trim();
    const summary = h(
      'summary',
      { class: 'row' },
      icon('chevron-right', 'twist'),
      icon(entry.type === 'error' ? 'error' : 'mail'),
      h('span', { class: 'from' }, entry.from),
      h('span', { class: 'type' }, entry.external ? `${type}, ${strings.external}` : type),
      h('span', { class: 'about' }, preview),
    );
    const body = h('div', { class: 'detail markdown' }, renderWhole(entry.text, strings));
    this.element.replaceChildren(h('details', { open: this.#isOpen() }, summary, body));
  }

  #notice(entry: Entry<'notice'>): void {
    const actions = entry.actions.flatMap(({ action, label }, index) => {
      const known = CONVERSATION_ACTIONS.find((candidate) => candidate === action);
      if (known === undefined) return [];
      const appearance = index === 0 ? 'primary' : 'secondary';
      return [button({ appearance, label }, () => this.context.act(known))];
    });
    this.element.className = `entry notice ${entry.level}`;
    this.element.replaceChildren(
      icon(entry.level),
      h(
        'div',
        { class: 'said' },
        h('div', { class: entry.text.includes('\n') ? 'text lines' : 'text' }, entry.text),
        actions.length > 0 ? h('div', { class: 'actions' }, ...actions) : undefined,
      ),
    );
  }

  #isOpen(): boolean {
    return this.element.querySelector('details')?.open ?? false;
  }
}

function labelled(label: string, text: string): HTMLElement {
  return h('section', {}, h('div', { class: 'label' }, label), h('pre', { tabindex: '0' }, text));
}

function mailLabel(type: string, strings: ConversationStrings): string {
  const labels: Readonly<Record<string, string>> = strings;
  return labels[`mail_${type}`] ?? type;
}
