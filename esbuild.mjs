// Builds everything, or the parts named: `node esbuild.mjs [--only=product] [--only=tests] [--only=host]`.
// With --watch it stays and builds again; with --production it builds the product alone, minified.
//   product  dist/: the extension, what it loads when first needed, the webviews
//   tests    out/unit, out/extension, out/ui, out/crash, out/bench
//   host     out/host: what starts VS Code for people and for tests
import { chmod, copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const root = dirname(fileURLToPath(import.meta.url));
const flags = new Set(process.argv.slice(2));
const production = flags.has('--production');
const watch = flags.has('--watch');
const wantsAll = !production && ![...flags].some((flag) => flag.startsWith('--only='));
const wants = (part) => wantsAll || flags.has(`--only=${part}`) || (production && part === 'product');

const common = {
  absWorkingDir: root,
  bundle: true,
  logLevel: 'warning',
  sourcemap: true,
  minify: production,
  charset: 'utf8',
};
const forNode = {
  ...common,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
  // `import()` becomes `require`, which resolves beside the bundle and needs no second module loader.
  supported: { 'dynamic-import': false },
};
const forTests = { ...forNode, packages: 'external' };

/** Names in `folder` that match, as paths from the project's root; a missing folder has none. */
async function sources(folder, pattern) {
  try {
    const names = await readdir(join(root, folder));
    return names.filter((name) => pattern.test(name)).map((name) => posix.join(folder, name));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * The extension and, in files beside it, what it loads when first needed with `import()`. Modules that several of them
 * use exist once, or `instanceof` of a class in them would be false across the files. esbuild splits only ECMAScript
 * modules, and the editor wants CommonJS, so that each file is turned into that afterwards.
 */
function extensionBuild() {
  const between = join(root, 'out', 'split');
  return {
    ...forNode,
    format: 'esm',
    splitting: true,
    supported: {},
    entryPoints: ['src/extension.ts'],
    outdir: between,
    // By their names alone where they have one; shared modules have none.
    chunkNames: 'lazy/[name]-[hash]',
    metafile: true,
    plugins: [
      {
        name: 'to-commonjs',
        setup(build) {
          build.onStart(() => rm(between, { recursive: true, force: true }));
          build.onEnd(async ({ errors, metafile }) => {
            if (errors.length > 0) return;
            const files = Object.keys(metafile.outputs).filter((file) => file.endsWith('.js'));
            await esbuild.build({
              ...forNode,
              bundle: false,
              external: undefined,
              entryPoints: files,
              outbase: between,
              outdir: 'dist',
            });
          });
        },
      },
    ],
  };
}

async function productBuilds() {
  const webview = { ...common, platform: 'browser', target: 'es2022', outdir: 'dist/webview' };
  return [
    extensionBuild(),
    {
      ...webview,
      format: 'iife',
      entryPoints: await sources('webview-ui', /^(conversation|request|sequence|transcript)\.ts$/),
    },
    { ...webview, sourcemap: false, entryPoints: await sources('webview-ui', /\.css$/) },
  ];
}

async function testBuilds() {
  const bundles = (entryPoints, outdir) => ({ ...forTests, entryPoints, outdir });
  return [
    bundles(await sources('test/unit', /\.test\.ts$/), 'out/unit'),
    bundles(await sources('test/extension', /^(index|.*\.test)\.ts$/), 'out/extension'),
    bundles(await sources('test/ui', /\.test\.ts$/), 'out/ui'),
    bundles(await sources('test/crash', /\.test\.ts$/), 'out/crash'),
    // With its packages: it is started hundreds of times.
    { ...forNode, entryPoints: await sources('test/crash', /^child\.ts$/), outdir: 'out/crash' },
    bundles(await sources('bench', /\.ts$/), 'out/bench'),
  ];
}

/** `runTests` starts this bundle as if it were VS Code. */
const makeExecutable = {
  name: 'make-executable',
  setup(build) {
    build.onEnd(async (result) => {
      if (result.errors.length === 0) await chmod(join(root, 'out/host/server-host.js'), 0o755);
    });
  },
};

function hostBuilds() {
  return [
    {
      ...forTests,
      entryPoints: ['start', 'test', 'mocha', 'server-host'].map((name) => `test/host/${name}.ts`),
      banner: { js: '#!/usr/bin/env node' },
      plugins: [makeExecutable],
      outdir: 'out/host',
    },
  ];
}

async function copyCodicons() {
  await mkdir(join(root, 'dist/webview'), { recursive: true });
  for (const name of ['codicon.css', 'codicon.ttf']) {
    await copyFile(join(root, 'node_modules/@vscode/codicons/dist', name), join(root, 'dist/webview', name));
  }
}

const builds = [];
if (wants('product')) {
  if (!watch) await rm(join(root, 'dist'), { recursive: true, force: true });
  builds.push(...(await productBuilds()));
  await copyCodicons();
}
if (wants('tests')) {
  for (const folder of watch ? [] : ['unit', 'extension', 'ui', 'crash', 'bench']) {
    // A bundle whose source was deleted would still be run.
    await rm(join(root, 'out', folder), { recursive: true, force: true });
  }
  builds.push(...(await testBuilds()));
}
if (wants('host')) builds.push(...hostBuilds());

let running = 0;

/** Tells the editor's watch task when the first of the builds begins and the last one ends. */
const announce = {
  name: 'announce',
  setup(build) {
    build.onStart(() => {
      running += 1;
      if (running === 1) console.log('[watch] build started');
    });
    build.onEnd((result) => {
      for (const { text, location } of result.errors) {
        console.error(`✘ [ERROR] ${text}`);
        if (location) console.error(`    ${location.file}:${location.line}:${location.column}:`);
      }
      running -= 1;
      if (running === 0) console.log('[watch] build finished');
    });
  },
};

async function watchAll(wanted) {
  const contexts = await Promise.all(
    wanted.map((build) =>
      esbuild.context({ ...build, logLevel: 'silent', plugins: [...(build.plugins ?? []), announce] }),
    ),
  );
  await Promise.all(contexts.map((context) => context.watch()));
}

try {
  const wanted = builds.filter((build) => build.entryPoints.length > 0);
  if (watch) await watchAll(wanted);
  else await Promise.all(wanted.map((build) => esbuild.build(build)));
} catch (error) {
  // esbuild has printed its own errors already; anything else is ours.
  if (!Array.isArray(error.errors)) console.error(error);
  process.exit(1);
}
