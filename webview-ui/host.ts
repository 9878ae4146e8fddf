import { provideVSCodeDesignSystem, vsCodeButton, vsCodeTextArea } from '@vscode/webview-ui-toolkit';
import type * as z from 'zod';
import { safeHref } from '../src/ui/safeLink';

/** The editor's side of this page. */
export interface Host<Outgoing> {
  post(message: Outgoing): void;
  /** Kept by the editor for a panel that comes back after a reload. */
  setState(state: unknown): void;
}

interface VsCodeApi {
  postMessage(message: unknown): void;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/**
 * Connects the page: registers the toolkit's elements and parses every message that comes in.
 * Messages from anywhere but the editor's frame do not fit the schema and are reported in the console.
 */
export function connect<Incoming, Outgoing>(
  schema: z.ZodType<Incoming>,
  onMessage: (message: Incoming) => void,
): Host<Outgoing> {
  provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeTextArea());
  const api = acquireVsCodeApi();
  window.addEventListener('message', (event: MessageEvent<unknown>) => {
    const parsed = schema.safeParse(event.data);
    if (parsed.success) onMessage(parsed.data);
    else console.warn('A message that this page does not know was left alone.', parsed.error.message);
  });
  return {
    post: (message) => api.postMessage(message),
    setState: (state) => api.setState(state),
  };
}

/** The translated texts that the extension put into the document. */
export function readStrings<T>(schema: z.ZodType<T>): T {
  const raw: unknown = JSON.parse(document.body.dataset.strings ?? '{}');
  return schema.parse(raw);
}

/** Lets links in `container` reach the editor by a message of ours only, and only safe ones. */
export function catchLinks(container: HTMLElement, open: (href: string) => void): void {
  const onClick = (event: MouseEvent) => {
    const target = event.target instanceof Element ? event.target.closest('a') : null;
    if (target === null) return;
    event.preventDefault();
    // The editor's own listener on the document would open the link a second time.
    event.stopPropagation();
    const href = safeHref(target.getAttribute('href') ?? '');
    if (href !== undefined) open(href);
  };
  container.addEventListener('click', onClick);
  container.addEventListener('auxclick', onClick);
}
