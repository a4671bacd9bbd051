// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Lints the scripts of the page with ESLint:  node scripts/checks/page.mjs FOLDER
// FOLDER is what scripts/node_env prints. The scripts share one scope, so they are linted as the one module that the
// page contains: in the order of src/lowtide/report/CMakeLists.txt, one after another.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const require = createRequire(join(resolve(process.argv[2]), 'package.json'));
const { Linter } = require('eslint');
const globals = require('globals');

const report = resolve(dirname(fileURLToPath(import.meta.url)), '../../src/lowtide/report');

const rules = {
  'array-callback-return': 'error',
  'block-scoped-var': 'error',
  'consistent-return': 'error',
  'default-case-last': 'error',
  'eqeqeq': 'error',
  'no-dupe-else-if': 'error',
  'no-dupe-keys': 'error',
  'no-eval': 'error',
  'no-fallthrough': 'error',
  'no-implied-eval': 'error',
  'no-loss-of-precision': 'error',
  'no-redeclare': 'error',
  'no-self-compare': 'error',
  'no-undef': 'error',
  'no-unmodified-loop-condition': 'error',
  'no-unreachable': 'error',
  'no-unsafe-optional-chaining': 'error',
  'no-unused-expressions': 'error',
  'no-unused-vars': 'error',
  'no-useless-assignment': 'error',
  'no-var': 'error',
  'prefer-const': 'error',
  'radix': 'error',
  'use-isnan': 'error',
};
const config = { languageOptions: { ecmaVersion: 2022, sourceType: 'module', globals: globals.browser }, rules };

// The names of the scripts and their texts, in the order of the page.
function scriptsOf(cmake) {
  const names = [...new Set(cmake.match(/\bpage\/[\w/]+\.js\b/g))];
  return names.map((name) => ({ name, text: readFileSync(join(report, name), 'utf8') }));
}

// Returns what the linter finds in scripts that share a scope: [{ name, line, message, rule }].
function findings(scripts) {
  const starts = [];
  let text = '';
  for (const script of scripts) {
    starts.push(text.split('\n').length);
    text += `${script.text}\n`;
  }
  return new Linter().verify(text, config).map(({ line, message, ruleId }) => {
    const at = starts.findLastIndex((start) => start <= line);
    return { name: scripts[at].name, line: line - starts[at] + 1, message, rule: ruleId };
  });
}

// A script may use a name of another one. Unknown names, unused names and names that are declared twice are findings.
function checkTheCheck() {
  const found = findings([
    { name: 'a.js', text: 'function shared() {\n  return window;\n}\nfunction unused() {}\n' },
    { name: 'b.js', text: '\nshared(unknown);\nconst shared = 1;\n' },
  ]).map(({ name, line, rule }) => `${name}:${line} ${rule}`).join(', ');
  if (!found.includes('b.js:3 null')) throw new Error(`a name declared twice is not found: ${found}`);
  const others = findings([
    { name: 'a.js', text: 'function shared() {\n  return window;\n}\nfunction unused() {}\n' },
    { name: 'b.js', text: '\nshared(unknown);\n' },
  ]).map(({ name, line, rule }) => `${name}:${line} ${rule}`).join(', ');
  if (others !== 'a.js:4 no-unused-vars, b.js:2 no-undef') throw new Error(`wrong findings: ${others}`);
}

checkTheCheck();
const scripts = scriptsOf(readFileSync(join(report, 'CMakeLists.txt'), 'utf8'));
const found = findings(scripts);
for (const { name, line, message, rule } of found) {
  console.log(`src/lowtide/report/${name}:${line}: ${message} (${rule})`);
}
console.log(`${found.length} findings in ${scripts.length} scripts`);
process.exitCode = found.length > 0 || scripts.length === 0 ? 1 : 0;
