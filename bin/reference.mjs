import { readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync } from 'oxc-parser';

// `npm run reference` writes docs/reference.md from the public indexes: each name with the first sentence of its description.

const indexes = {
  '#engine': ['src/shared/index.ts', 'For pages and components.'],
  '#engine/server': ['src/server/index.ts', 'For loaders, actions, the API and other server code.'],
  '#engine/testing': ['tests/support/testing.ts', 'For tests of a product.'],
};

/** @returns {string} the text of docs/reference.md */
export function writeReference(root) {
  const sections = Object.entries(indexes).map(([index, [path, about]]) => {
    const exports = readFile(root, path).program.body.flatMap(({ source, specifiers = [] }) =>
      specifiers.map(({ exported: { name } }) => ({ name, file: posix.join(posix.dirname(path), source.value) })),
    );
    const sorted = exports.sort((one, other) => (one.name.toLowerCase() < other.name.toLowerCase() ? -1 : 1));
    const rows = sorted.map(({ name, file }) => `| \`${name}\` | ${describe(readFile(root, file), name)} |`);
    return [`## ${index}`, about, ['| name | |', '| --- | --- |', ...rows].join('\n')].join('\n\n');
  });
  const head = `# Reference\n\nThe public API of Spillway, generated from the sources by \`npm run reference\`. Your editor shows the rest of each description. Anything that is not listed here can change with every version.`;
  return `${[head, ...sections].join('\n\n')}\n`;
}

function readFile(root, path) {
  const source = readFileSync(join(root, path), 'utf8');
  const { program, comments } = parseSync(path, source);
  return { path, source, program, comments };
}

/** Returns the first sentence of the comment directly before a declaration. */
function describe({ path, source, program, comments }, name) {
  const { start } = program.body.find((statement) => {
    const { id, declarations } = statement.declaration ?? statement;
    return (id ?? declarations?.[0].id)?.name === name;
  });
  const doc = comments.findLast(({ end }) => end <= start && source.slice(end, start).trim() === '');
  const [text] = (doc?.value ?? '').replace(/^\*|\n\s*\*/g, ' ').split(/\s@(?=[a-z])/);
  if (text.trim() === '')
    throw new Error(`${name} in ${path} is public but has no doc comment. Add one that says more than the name.`);
  const [sentence = text] =
    text
      .replace(/\s+/g, ' ')
      .trim()
      .match(/^.+?\.(?= |$)/) ?? [];
  return sentence.replaceAll('|', '\\|');
}

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, '..');
  writeFileSync(join(root, 'docs/reference.md'), writeReference(root));
}
