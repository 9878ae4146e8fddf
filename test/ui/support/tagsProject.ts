/** A feature for the sample project, cut into twelve tasks that build on each other, and the tests that it has to pass. */
export interface ProjectTask {
  key: string;
  subject: string;
  /** Keys of the tasks it comes after. */
  after: readonly string[];
  /** What is written; without one the task runs the tests. */
  file?: { path: string; content: string };
}

const module = (key: string, after: readonly string[], content: string): ProjectTask => ({
  key,
  subject: `Write src/tags/${key}.js`,
  after,
  file: { path: `src/tags/${key}.js`, content: `${content}\n` },
});

export const PROJECT_TASKS: readonly ProjectTask[] = [
  module(
    'parse',
    [],
    'export const parse = (text) => text.match(/#[a-z]+/gi)?.map((tag) => tag.slice(1)) ?? [];',
  ),
  module('slug', [], 'export const slug = (tag) => tag.trim().toLowerCase();'),
  module('order', [], 'export const order = (tags) => [...tags].sort();'),
  module('label', [], 'export const label = (tag) => "#" + tag;'),
  module(
    'unique',
    ['slug'],
    "import { slug } from './slug.js';\n\nexport const unique = (tags) => [...new Set(tags.map(slug))];",
  ),
  module(
    'count',
    ['parse', 'slug'],
    "import { parse } from './parse.js';\nimport { slug } from './slug.js';\n\nexport const count = (text, tag) => parse(text).filter((each) => slug(each) === slug(tag)).length;",
  ),
  module(
    'list',
    ['unique', 'order'],
    "import { order } from './order.js';\nimport { unique } from './unique.js';\n\nexport const list = (tags) => order(unique(tags));",
  ),
  module(
    'render',
    ['label', 'list'],
    "import { label } from './label.js';\nimport { list } from './list.js';\n\nexport const render = (tags) => list(tags).map(label).join(' ');",
  ),
  module(
    'top',
    ['count', 'list', 'parse'],
    "import { count } from './count.js';\nimport { list } from './list.js';\nimport { parse } from './parse.js';\n\nexport const top = (text) => list(parse(text)).sort((a, b) => count(text, b) - count(text, a))[0];",
  ),
  module(
    'summary',
    ['render', 'top'],
    "import { parse } from './parse.js';\nimport { render } from './render.js';\nimport { top } from './top.js';\n\nexport const summary = (text) => render(parse(text)) + ', most of all ' + top(text);",
  ),
  module(
    'index',
    ['summary'],
    "export { count } from './count.js';\nexport { summary } from './summary.js';",
  ),
  { key: 'tests', subject: 'Run the tests of the project', after: ['index'] },
];

/** It fails until all of the modules are there and right. */
export const PROJECT_TEST = {
  path: 'test/tags.test.js',
  content: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, summary } from '../src/tags/index.js';

test('tags are counted and summed up', () => {
  assert.equal(count('#Red and #red, then #blue', 'red'), 2);
  assert.equal(summary('#Red and #red, then #blue'), '#blue #red, most of all red');
});
`,
} as const;
