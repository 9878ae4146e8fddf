/** Which source of words a call goes to, by the settings and the keys as they are at that moment. */

import type { AnthropicModelOptions } from './anthropic';
import type { Credentials, MissingCredentials } from './credentials';
import type { DemoModelOptions } from './demo';
import { DEFAULT_BASE_URL, type Env, hostAndPort } from './endpoint';
import { isVscodeModel } from './modelId';
import { type CallCounts, type LanguageModel, ModelError, type ModelStreamEvent } from './port';
import type { ThinkingChoice } from './thinkingChoice';

export const PROVIDERS = ['auto', 'anthropic', 'vscode', 'demo'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export interface ModelRouterOptions {
  getSettings(): { provider: ProviderName; httpProxy?: string; thinking?: ThinkingChoice };
  /** The outcome of `resolveCredentials`, read anew for every call, so that a new key counts at once. */
  getCredentials(): Promise<Credentials | MissingCredentials>;
  /** Loads the adapter with the SDK, at the first call that needs it. */
  loadAnthropic(): Promise<{ createAnthropicModel(options: AnthropicModelOptions): LanguageModel }>;
  /** VS Code's own model of that name, or the first there is; undefined where there is none. */
  findVscodeModel?(model: string | undefined): Promise<LanguageModel | undefined>;
  /** For the names of proxies in messages. */
  env: Env;
  demo?: DemoModelOptions;
}

export interface ModelProvider {
  /** A model that asks {@link ModelProvider.resolve} at every call; its label is that of the last one. */
  readonly model: LanguageModel;
  /**
   * @param model the model that a member is to have (see `modelId.ts`), or undefined for that of the source
   * @throws {ModelError} `no_key` and the like, with what to do
   */
  resolve(model?: string): Promise<LanguageModel>;
}

export function createModelProvider(options: ModelRouterOptions): ModelProvider {
  let demo: LanguageModel | undefined;
  const findVscodeModel = options.findVscodeModel ?? (async () => undefined);
  let made: { key: string; model: LanguageModel } | undefined;

  const anthropic = async (found: Credentials): Promise<LanguageModel> => {
    const { httpProxy, thinking } = options.getSettings();
    const { source, ...rest } = found;
    const key = JSON.stringify([found, httpProxy, thinking]);
    if (made?.key === key) return made.model;
    const { createAnthropicModel } = await options.loadAnthropic();
    const model = counted(
      createAnthropicModel({
        ...rest,
        env: options.env,
        ...(httpProxy ? { httpProxy } : {}),
        ...(thinking ? { thinking } : {}),
      }),
      found.baseUrl,
    );
    made = { key, model };
    return model;
  };

  const vscodeModel = async (model: string | undefined): Promise<LanguageModel> => {
    const found = await findVscodeModel(model);
    if (found) return found;
    if (model !== undefined && (await findVscodeModel(undefined))) {
      throw new ModelError(
        'unknown_model',
        `VS Code offers no language model "${model}". Choose another with "Handshake: Select Model".`,
      );
    }
    throw new ModelError(
      'no_key',
      'VS Code offers no language model. Install an extension that brings some and sign in to it, or run "Handshake: Set API Key", or run the demo ("Handshake: Run Demo").',
    );
  };

  const fromKeys = async (provider: 'auto' | 'anthropic', model: string | undefined) => {
    const found = await options.getCredentials();
    if (!('missing' in found)) return withModel(await anthropic(found), model);
    // One that is there but cannot be used is for the user to mend; something else in its place would hide it.
    if (provider === 'auto' && found.reason === 'none') {
      const instead = (await findVscodeModel(model)) ?? (await findVscodeModel(undefined));
      if (instead) return instead;
    }
    throw new ModelError('no_key', found.message);
  };

  const resolve = async (model?: string): Promise<LanguageModel> => {
    const { provider } = options.getSettings();
    if (provider === 'demo') {
      const { createDemoModel } = await import('./demo');
      demo ??= createDemoModel(options.demo);
      return demo;
    }
    if (provider === 'vscode' || (model !== undefined && isVscodeModel(model))) return vscodeModel(model);
    return fromKeys(provider, model);
  };

  let last: LanguageModel | undefined;
  return {
    resolve,
    model: {
      get label() {
        return last?.label ?? 'no model yet';
      },
      get isDemo() {
        return last?.isDemo ?? options.getSettings().provider === 'demo';
      },
      async call(request, onEvent, signal) {
        const model = await resolve(request.model);
        last = model;
        return model.call(request, onEvent, signal);
      },
    },
  };
}

/** The same endpoint and key, with a model of the member's own. */
function withModel(model: LanguageModel, id: string | undefined): LanguageModel {
  if (id === undefined) return model;
  return {
    ...model,
    label: id,
    call: (request, onEvent, signal) => model.call({ ...request, model: id }, onEvent, signal),
  };
}

/** Anthropic's own endpoint counts a model by its name; what another one calls by that name costs something else. */
function counted(model: LanguageModel, baseUrl: string): LanguageModel {
  if (baseUrl === DEFAULT_BASE_URL) return model;
  const at = hostAndPort(baseUrl);
  return {
    ...model,
    async call(request, onEvent, signal) {
      const named = <T extends CallCounts>(counts: T): T => ({
        ...counts,
        countedAs: `${at}/${counts.model}`,
      });
      const tell = (event: ModelStreamEvent): void =>
        onEvent(event.type === 'counting' ? { ...event, soFar: () => named(event.soFar()) } : event);
      return named(await model.call(request, tell, signal));
    },
  };
}
