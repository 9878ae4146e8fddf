import { h, icon } from './dom';

export interface FieldOptions {
  /** Which part of the proposal, such as `member:ada`. */
  part: string;
  field: string;
  label: string;
  value?: string;
  placeholder?: string;
  /** Several lines. */
  lines?: boolean;
  numeric?: boolean;
  choices?: readonly { value: string; label: string }[];
  /** Texts that are offered; any other can be typed. */
  offers?: readonly { value: string; label: string }[];
  onInput?(value: string): void;
  /** A box to check in place of a text. */
  checked?: boolean;
  onCheck?(checked: boolean): void;
  /** Several of them. */
  boxes?: readonly { value: string; label: string; checked: boolean }[];
  onBox?(value: string, checked: boolean): void;
}

/** Where a field says what is wrong with it. */
export function problemId(part: string, field: string): string {
  return `problem-${part}-${field}`.replace(/[^\w-]/g, '_');
}

/** A field with its label, and a place below for what is wrong with it. */
export function fieldRow(options: FieldOptions): HTMLElement {
  const { part, field, label } = options;
  const problem = h('span', { class: 'problem', id: problemId(part, field), role: 'alert', hidden: true });
  if (options.boxes !== undefined) return boxesRow(options, options.boxes, problem);
  if (options.checked !== undefined) {
    const box = checkBox(options.checked, (checked) => options.onCheck?.(checked));
    mark(box, part, field);
    return h('div', { class: 'field' }, h('label', { class: 'check' }, box, label), problem);
  }
  const control = controlOf(options);
  mark(control, part, field);
  control.setAttribute('aria-describedby', problem.id);
  const offers = offersOf(options.offers ?? [], `offers-${problem.id}`, control);
  return h(
    'div',
    { class: 'field' },
    h('label', {}, h('span', { class: 'label' }, label), control),
    ...offers,
    problem,
  );
}

function offersOf(
  offers: NonNullable<FieldOptions['offers']>,
  id: string,
  control: HTMLElement,
): HTMLElement[] {
  if (offers.length === 0) return [];
  control.setAttribute('list', id);
  return [h('datalist', { id }, ...offers.map(({ value, label }) => h('option', { value }, label)))];
}

function boxesRow(
  { part, field, label, onBox }: FieldOptions,
  boxes: NonNullable<FieldOptions['boxes']>,
  problem: HTMLElement,
): HTMLElement {
  const rows = boxes.map(({ value, label: text, checked }, index) => {
    const box = checkBox(checked, (on) => onBox?.(value, on));
    mark(box, part, index === 0 ? field : `${field}:${value}`);
    return h('label', { class: 'check' }, box, text);
  });
  return h('fieldset', { class: 'field' }, h('legend', { class: 'label' }, label), ...rows, problem);
}

function controlOf(options: FieldOptions): HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement {
  const { value = '', placeholder, choices, lines, numeric, onInput } = options;
  if (choices !== undefined) {
    const select = h(
      'select',
      {},
      ...choices.map((choice) =>
        h('option', { value: choice.value, selected: choice.value === value }, choice.label),
      ),
    );
    select.addEventListener('change', () => onInput?.(select.value));
    return select;
  }
  if (lines) {
    const area = h('textarea', { rows: '5' });
    area.value = value;
    area.addEventListener('input', () => onInput?.(area.value));
    return area;
  }
  const input = h('input', {
    type: numeric ? 'number' : 'text',
    placeholder,
    step: numeric ? '1' : undefined,
  });
  input.value = value;
  input.addEventListener('input', () => onInput?.(input.value));
  return input;
}

function checkBox(checked: boolean, onCheck: (checked: boolean) => void): HTMLInputElement {
  const box = h('input', { type: 'checkbox', checked });
  box.addEventListener('change', () => onCheck(box.checked));
  return box;
}

function mark(element: HTMLElement, part: string, field: string): void {
  element.dataset.part = part;
  element.dataset.field = field;
}

/** A small button with a picture, in a row. */
export function iconButton(picture: string, label: string, onClick: () => void): HTMLElement {
  const button = h(
    'button',
    { class: 'small', type: 'button', title: label, 'aria-label': label },
    icon(picture),
  );
  button.addEventListener('click', onClick);
  return button;
}
