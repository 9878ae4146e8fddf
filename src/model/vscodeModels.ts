/** VS Code's own language models (`vscode.lm`): finding them, and talking with one in its own classes. */

import * as vscode from 'vscode';
import type { Attention } from './attention';
import type { LmMessage } from './lmConversation';
import type { LmChat, LmReplyPart, LmSendOptions } from './lmModel';
import { parseVscodeModel, vscodeModelId } from './modelId';
import type { LanguageModel } from './port';

/** A model as it is offered for choice. */
export interface VscodeModel {
  /** `vscode:<vendor>/<id>`. */
  id: string;
  name: string;
}

/** The models that VS Code's extensions offer in this window. */
export class VscodeModels implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  /** The models, or the access to them, may have changed. */
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: vscode.Disposable[];
  #count: number | undefined;

  constructor(
    private readonly access: vscode.LanguageModelAccessInformation,
    private readonly attention: Attention,
    /** Shown in VS Code's question for access. */
    private readonly justification: string,
  ) {
    this.#subscriptions = [
      vscode.lm.onDidChangeChatModels(() => this.#changed.fire()),
      access.onDidChange(() => this.#changed.fire()),
    ];
  }

  /** Whether there was a model when they were last looked for; undefined before that. */
  get hasAny(): boolean | undefined {
    return this.#count === undefined ? undefined : this.#count > 0;
  }

  async list(): Promise<VscodeModel[]> {
    const chats = await this.#select({});
    return chats.map((chat) => ({ id: vscodeModelId(chat), name: chat.name }));
  }

  /**
   * @param model `vscode:<vendor>/<id>`, the id or the family of any vendor's, or undefined for the first there is
   * @returns undefined where there is no such model
   */
  async find(model: string | undefined): Promise<LanguageModel | undefined> {
    const named = model === undefined ? undefined : parseVscodeModel(model);
    const chats = await this.#select(named ? { vendor: named.vendor } : {});
    const chat = named
      ? chats.find(({ id }) => id === named.id)
      : chats.find(({ id, family }) => model === undefined || id === model || family === model);
    if (!chat) return undefined;
    const { createLmModel } = await import('./lmModel');
    return createLmModel(this.#chat(chat), this.attention);
  }

  async #select(selector: vscode.LanguageModelChatSelector): Promise<vscode.LanguageModelChat[]> {
    const chats = await vscode.lm.selectChatModels(selector);
    if (selector.vendor === undefined) this.#count = chats.length;
    return chats;
  }

  #chat(chat: vscode.LanguageModelChat): LmChat {
    const { vendor, id, name, family } = chat;
    const { justification } = this;
    return {
      vendor,
      id,
      name,
      family,
      canSend: () => this.access.canSendRequest(chat),
      send: (messages, options, signal) => send(chat, messages, { ...options, justification }, signal),
    };
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }
}

async function* send(
  chat: vscode.LanguageModelChat,
  messages: readonly LmMessage[],
  { tools, mustCall, justification }: LmSendOptions & { justification: string },
  signal: AbortSignal,
): AsyncIterable<LmReplyPart> {
  const cancellation = new vscode.CancellationTokenSource();
  const cancel = (): void => cancellation.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const { LanguageModelChatToolMode } = vscode;
    const response = await chat.sendRequest(
      messages.map(toMessage),
      {
        justification,
        tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
        toolMode: mustCall ? LanguageModelChatToolMode.Required : LanguageModelChatToolMode.Auto,
      },
      cancellation.token,
    );
    for await (const part of response.stream) {
      if (part instanceof vscode.LanguageModelTextPart) yield { type: 'text', text: part.value };
      else if (part instanceof vscode.LanguageModelToolCallPart)
        yield { type: 'call', id: part.callId, name: part.name, input: part.input };
      else yield { type: 'other' };
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancellation.dispose();
  }
}

function toMessage({ role, parts }: LmMessage): vscode.LanguageModelChatMessage {
  if (role === 'assistant') {
    return vscode.LanguageModelChatMessage.Assistant(
      parts.map((part) =>
        part.type === 'call'
          ? new vscode.LanguageModelToolCallPart(part.id, part.name, part.input)
          : new vscode.LanguageModelTextPart(part.text),
      ),
    );
  }
  return vscode.LanguageModelChatMessage.User(
    parts.flatMap((part): (vscode.LanguageModelTextPart | vscode.LanguageModelToolResultPart)[] => {
      if (part.type === 'call') return [];
      const text = new vscode.LanguageModelTextPart(part.text);
      return [part.type === 'text' ? text : new vscode.LanguageModelToolResultPart(part.id, [text])];
    }),
  );
}
