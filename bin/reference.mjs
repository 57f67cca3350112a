import { readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';

// `npm run reference` writes docs/reference.md from the public indexes: each value with the first sentence of its
// description, and the names of the types.

const indexes = {
  '#engine': ['src/shared/index.ts', 'For pages and components.'],
  '#engine/server': ['src/server/index.ts', 'For loaders, actions, the API and other server code.'],
  '#engine/testing': ['tests/support/testing.ts', 'For tests of a product.'],
};

const head =
  '# Reference\n\nThe public API of Spillway, generated from the sources by `npm run reference`. Your editor shows the rest of each description. Anything that is not listed here can change with every version.';

/** @returns {string} the text of docs/reference.md */
export function writeReference(root) {
  const sections = Object.entries(indexes).map(([index, [path, about]]) => {
    const lists = readFileSync(join(root, path), 'utf8').matchAll(/^export (?:type )?\{([^}]+)\} from '(.+)';/gm);
    const exports = [...lists].flatMap(([, names, file]) =>
      [...names.matchAll(/\w+(?=\s*(?:,|$))/g)].map(([name]) => ({ name, file: posix.join(path, '..', file) })),
    );
    const sorted = exports.sort((one, other) => (one.name.toLowerCase() < other.name.toLowerCase() ? -1 : 1));
    const described = sorted.map(({ name, file }) => ({ name, ...describe(root, file, name) }));
    const rows = described.filter(({ isType }) => !isType).map(({ name, about }) => `| \`${name}\` | ${about} |`);
    const types = described.filter(({ isType }) => isType).map(({ name }) => `\`${name}\``);
    const parts = [`## ${index}`, about, ['| name | |', '| --- | --- |', ...rows].join('\n')];
    if (types.length > 0) parts.push(`Types: ${types.join(', ')}.`);
    return parts.join('\n\n');
  });
  return `${[head, ...sections].join('\n\n')}\n`;
}

/** Finds the first sentence of the comment directly before a declaration, and whether that is of a type. */
function describe(root, file, name) {
  const declaration = new RegExp(
    `/\\*\\*((?:(?!\\*/)[^])*)\\*/\\nexport (?:(?:async|abstract) )?(function|const|class|interface|type) ${name}\\b`,
  );
  const [, comment = '', kind = ''] = declaration.exec(readFileSync(join(root, file), 'utf8')) ?? [];
  const text = comment
    .split(/\s@(?=[a-z])/)[0]
    .replace(/\n \*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (text === '')
    throw new Error(`${name} in ${file} is public but has no doc comment. Add one that says more than the name.`);
  const sentence = /^.+?\.(?= |$)/.exec(text)?.[0] ?? text;
  const about = sentence.replace(/: `[^`]+`\.$/, '.').replaceAll('|', '\\|'); // the guide has the examples
  return { about, isType: kind === 'interface' || kind === 'type' };
}

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, '..');
  writeFileSync(join(root, 'docs/reference.md'), writeReference(root));
}
