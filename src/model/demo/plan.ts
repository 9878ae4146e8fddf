/** The plan a demo teammate submits: short, in Markdown, and true to what it will do. */

import { ROUTER, TEST } from './work';

export function planFor(task: string, feedback: string): { plan: string; files: string[] } {
  const risky = /\b(?:risky|refactor)/i.test(task) && feedback === '';
  const title = risky ? 'Plan: refactor the router' : 'Plan: add a health route';
  const lines = risky
    ? [
        `1. Read \`${ROUTER}\` and pin its behaviour with a new test, \`${TEST}\`.`,
        `2. Add \`GET /health\` to the route table in \`${ROUTER}\`, as the smallest change that goes through the new test.`,
        '3. Later, and with a plan of its own: rewrite the dispatch itself. This is the risky part, because every request goes through it.',
      ]
    : [
        `1. Read \`${ROUTER}\` to see how its route table is written.`,
        `2. Add one entry for \`GET /health\`, which answers \`{ "status": "ok" }\`.`,
        `3. Write \`${TEST}\`, which asks for the route and checks the answer.`,
      ];
  const risk = risky
    ? '**Risk:** high. The router has no test for its error paths.'
    : '**Risk:** low. Nothing that exists is changed; taking it back means removing one entry and one file.';
  const answer =
    feedback === ''
      ? []
      : ['', `**Your feedback:** ${feedback.replace(/\s+/g, ' ').trim()} This version is one small step.`];
  return { plan: [`# ${title}`, '', ...lines, '', risk, ...answer].join('\n'), files: [ROUTER, TEST] };
}
