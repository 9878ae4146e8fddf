import type { TextArea } from '@vscode/webview-ui-toolkit';
import { LONGEST_MESSAGE } from '../src/ui/messages';
import type { ConversationStrings } from '../src/ui/webviewStrings';
import { button, h, icon } from './dom';
import { tooLong } from './tooLong';

/** Lines that the input grows to before it scrolls. */
const MAX_ROWS = 10;

export interface ComposerEvents {
  send(text: string): void;
  stop(): void;
  typed(text: string): void;
}

/** The input: Enter sends, Shift+Enter makes a line, Stop shows while the lead works. */
export class Composer {
  readonly element: HTMLElement;
  readonly #input: TextArea;
  readonly #send: HTMLElement;
  readonly #stop: HTMLElement;
  readonly #status: HTMLElement;
  readonly #problem: HTMLElement;

  constructor(
    private readonly strings: ConversationStrings,
    private readonly events: ComposerEvents,
  ) {
    // The toolkit's element is registered before the page is built, so the constructor gives a TextArea.
    this.#input = h(
      'vscode-text-area',
      { rows: '1', resize: 'none', placeholder: strings.placeholder },
      // The toolkit makes the accessible name from the content; the style hides it.
      strings.input,
    ) as TextArea;
    this.#send = button({ appearance: 'icon', label: strings.send, icon: 'send', title: strings.send }, () =>
      this.#submit(),
    );
    this.#stop = button(
      { appearance: 'icon', label: strings.stop, icon: 'debug-stop', title: strings.stop },
      () => events.stop(),
    );
    this.#status = h('div', { class: 'status', role: 'status' });
    this.#problem = h('div', { class: 'problem', role: 'alert', hidden: true });
    this.element = h(
      'footer',
      { class: 'composer' },
      this.#status,
      this.#problem,
      h('div', { class: 'field' }, this.#input, h('div', { class: 'buttons' }, this.#stop, this.#send)),
    );
    this.#input.addEventListener('input', () => {
      this.#grown();
      this.#problem.hidden = true;
      events.typed(this.#input.value);
    });
    this.#input.addEventListener('keydown', (event: KeyboardEvent) => {
      // While an input method composes, Enter accepts its suggestion.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#submit();
    });
    new ResizeObserver(() => this.#grown()).observe(this.element);
    this.setBusy(false);
  }

  get text(): string {
    return this.#input.value;
  }

  setText(text: string): void {
    if (this.#input.value !== text) this.#input.value = text;
    this.#grown();
  }

  setBusy(busy: boolean): void {
    this.#stop.hidden = !busy;
    const shown = busy ? [icon('loading', 'codicon-modifier-spin'), h('span', {}, this.strings.working)] : [];
    this.#status.replaceChildren(...shown);
  }

  #submit(): void {
    const text = this.#input.value;
    if (text.trim() === '') return;
    const problem = tooLong(text, LONGEST_MESSAGE, this.strings);
    this.#problem.hidden = problem === undefined;
    this.#problem.replaceChildren(icon('error'), h('span', {}, problem ?? ''));
    if (problem !== undefined) return;
    this.setText('');
    this.events.send(text);
  }

  /** Fits the height to the text. */
  #grown(): void {
    const control = this.#input.shadowRoot?.querySelector('textarea');
    this.#send.toggleAttribute('disabled', this.#input.value.trim() === '');
    if (!control) return;
    control.rows = 1;
    while (control.rows < MAX_ROWS && control.scrollHeight > control.clientHeight) control.rows += 1;
  }
}
