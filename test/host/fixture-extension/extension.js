const vscode = require('vscode');

/** Every effect of an action is shown in the status bar, where the driver's test reads it. */
function activate(context) {
  const own = (disposable) => context.subscriptions.push(disposable);
  const status = vscode.window.createStatusBarItem('fixture.status', vscode.StatusBarAlignment.Left, 1000);
  status.name = 'Fixture';
  status.show();
  own(status);
  const say = (text) => {
    status.text = `$(beaker) ${text}`;
  };
  const level = vscode.workspace.getConfiguration('fixture').get('level');
  const variable = process.env.FIXTURE_VARIABLE ?? 'none';
  say(`level ${level}, variable ${variable}`);

  const names = ['first', 'second'];
  const changed = new vscode.EventEmitter();
  const tree = vscode.window.createTreeView('fixture.items', {
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getChildren: (parent) => (parent === undefined ? names : parent === 'second' ? ['inner'] : []),
      getTreeItem: (name) => {
        const state = name === 'second' ? 'Expanded' : 'None';
        const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState[state]);
        item.id = name;
        item.description = `about ${name}`;
        return item;
      },
    },
  });
  tree.badge = { value: 2, tooltip: '2 items' };
  own(tree);

  const html = (text) => `<!doctype html>
    <button id="press">${text}</button>
    <script>
      const api = acquireVsCodeApi();
      document.getElementById('press').addEventListener('click', () => api.postMessage('pressed'));
    </script>`;
  const fill = (webview, text) => {
    webview.options = { enableScripts: true };
    webview.html = html(text);
    webview.onDidReceiveMessage((message) => say(`${text}: ${message}`));
  };
  own(
    vscode.window.registerWebviewViewProvider('fixture.page', {
      resolveWebviewView: (view) => fill(view.webview, 'Press the view'),
    }),
  );

  const commands = {
    'fixture.ask': async () => {
      const name = await vscode.window.showInputBox({ prompt: 'A name' });
      const color = await vscode.window.showQuickPick(['red', 'green', 'blue']);
      say(`${name} likes ${color}`);
    },
    'fixture.tell': async () => {
      const answer = await vscode.window.showInformationMessage('Something waits.', 'Review', 'Later');
      say(`answered ${answer}`);
    },
    'fixture.keep': async () => {
      const kept = await context.secrets.get('fixture');
      if (kept === undefined) await context.secrets.store('fixture', 'swordfish');
      say(kept === undefined ? 'secret stored' : `secret is ${kept}`);
    },
    'fixture.confirm': async () => {
      const answer = await vscode.window.showWarningMessage('Really?', { modal: true }, 'Yes');
      say(`confirmed ${answer}`);
    },
    'fixture.panel': () => {
      fill(vscode.window.createWebviewPanel('fixture', 'Fixture Panel', 1).webview, 'Press the panel');
    },
    'fixture.approve': (name) => {
      tree.badge = undefined;
      say(`approved ${name}`);
    },
    'fixture.rename': (name) => say(`renamed ${name}`),
  };
  for (const [id, handler] of Object.entries(commands)) own(vscode.commands.registerCommand(id, handler));
}

module.exports = { activate };
