const vscode = require('vscode');

const model = (id, name) => ({
  id,
  name,
  family: 'test',
  version: '1',
  maxInputTokens: 100_000,
  maxOutputTokens: 4000,
  capabilities: { toolCalling: true },
});

/** What the tests hold in their hands: every request, and the function that answers. */
const state = {
  requests: [],
  answer: async () => [new vscode.LanguageModelTextPart('Noted.')],
  models: [model('small', 'Small'), model('org/big', 'Big')],
};

function activate(context) {
  context.subscriptions.push(
    vscode.lm.registerLanguageModelChatProvider('handshake-test', {
      provideLanguageModelChatInformation: async () => state.models,
      provideTokenCount: async (_model, text) => (typeof text === 'string' ? Math.ceil(text.length / 4) : 1),
      async provideLanguageModelChatResponse(info, messages, options, progress, token) {
        const request = { model: info.id, messages, options, token };
        state.requests.push(request);
        for (const part of await state.answer(request)) progress.report(part);
      },
    }),
  );
  return state;
}

module.exports = { activate };
