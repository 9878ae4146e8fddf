import type { LanguageModel, ModelReply } from '../../src/model/port';

/** A model that says one word at once, for members whose calls are not what is measured. */
export const nodding: LanguageModel = {
  label: 'Bench',
  isDemo: false,
  async call(): Promise<ModelReply> {
    return {
      content: [{ type: 'text', text: 'Noted.' }],
      stopReason: 'end_turn',
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      model: 'bench',
    };
  },
};
