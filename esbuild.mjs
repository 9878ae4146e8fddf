// Builds everything, or the parts named: `node esbuild.mjs [--only=product] [--only=tests] [--only=host]`.
// With --watch it stays and builds again; with --production it builds the product alone, minified.
//   product  dist/: the extension, the Anthropic adapter (loaded when first needed), the webviews
//   tests    out/unit, out/extension, out/ui, out/crash, out/bench
//   host     out/host: what starts VS Code for people and for tests
import { chmod, copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const root = dirname(fileURLToPath(import.meta.url));
const flags = new Set(process.argv.slice(2));
const production = flags.has('--production');
const watch = flags.has('--watch');
const wantsAll = !production && ![...flags].some((flag) => flag.startsWith('--only='));
const wants = (part) => wantsAll || flags.has(`--only=${part}`) || (production && part === 'product');

const lazyFolder = join(root, 'src', 'model', 'anthropic');
const lazyEntry = join(lazyFolder, 'index.ts');

const common = {
  absWorkingDir: root,
  bundle: true,
  logLevel: 'warning',
  sourcemap: true,
  minify: production,
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
 * Modules of ours that the Anthropic bundle and the main bundle both use. Each must exist once at run
 * time, or `instanceof` of a class in them is false across the two bundles.
 */
async function findShared() {
  const { metafile } = await esbuild.build({
    ...forNode,
    entryPoints: [lazyEntry],
    packages: 'external',
    metafile: true,
    write: false,
    sourcemap: false,
  });
  return Object.keys(metafile.inputs)
    .map((input) => join(root, input))
    .filter((file) => !file.startsWith(lazyFolder + sep));
}

const sharedOutput = (file) => {
  const inSource = relative(join(root, 'src'), file).split(sep).join('/');
  return posix.join('shared', inSource.replace(/\.ts$/, '.js'));
};

/**
 * Keeps the Anthropic adapter and the shared modules out of the bundle being built; at run time they are
 * loaded from files of their own.
 * @param output where this bundle goes, relative to dist/
 */
function splitOut(shared, output) {
  const candidates = (base) => [base, `${base}.ts`, join(base, 'index.ts')];
  const reference = (target) => {
    const path = posix.relative(posix.dirname(output), target);
    return { path: path.startsWith('.') ? path : `./${path}`, external: true };
  };
  return {
    name: 'split-out',
    setup(build) {
      build.onResolve({ filter: /^\.\.?(\/|$)/ }, (args) => {
        const files = candidates(resolve(args.resolveDir, args.path));
        if (args.kind === 'dynamic-import' && files.includes(lazyEntry)) return reference('anthropic.js');
        const file = files.find((candidate) => shared.includes(candidate));
        return file === undefined ? undefined : reference(sharedOutput(file));
      });
    },
  };
}

async function productBuilds() {
  const hasLazy = (await sources('src/model/anthropic', /^index\.ts$/)).length > 0;
  const shared = hasLazy ? await findShared() : [];
  const bundle = (entry, output) => ({
    ...forNode,
    entryPoints: [entry],
    outfile: `dist/${output}`,
    plugins: [splitOut(shared, output)],
  });
  const webview = { ...common, platform: 'browser', target: 'es2022', outdir: 'dist/webview' };
  return [
    bundle('src/extension.ts', 'extension.js'),
    ...(hasLazy ? [bundle('src/model/anthropic/index.ts', 'anthropic.js')] : []),
    ...shared.map((file) => bundle(file, sharedOutput(file))),
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
