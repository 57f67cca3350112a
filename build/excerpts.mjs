import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { SugarHigh } from 'sugar-high/core';
import { tokenize } from 'sugar-high/lang/typescript';
import { toRelative } from './files.mjs';

/**
 * Excerpts of this project's sources, for pages that show their own code:
 * `import loader from 'excerpt:src/server/product/pages/streaming.ts#streaming'`. The name after `#` is that of a
 * declaration, a property or a method, or the `id` of an object in a table. If several match, the outermost is used.
 * `actions.send` is the `send` in `actions`. An excerpt consists of full lines. Only files in
 * `src` are allowed, because the build watches only these.
 *
 * @typedef {string | [kind: string, text: string]} Span plain text, or text of a kind
 * @typedef {{ file: string, firstLine: number, lastLine: number, spans: Span[] }} Excerpt
 */

/** @param {string} root @returns {import('esbuild').Plugin} */
export function excerpts(root) {
  return {
    name: 'excerpts',
    setup(build) {
      build.onResolve({ filter: /^excerpt:/ }, async ({ path, importer }) => {
        const request = path.slice('excerpt:'.length);
        try {
          const shownBy = toRelative(root, importer);
          return { path: request, namespace: 'excerpt', pluginData: await readExcerpt(root, request, shownBy) };
        } catch (error) {
          return { errors: [{ text: error.message }] };
        }
      });
      build.onLoad({ filter: /.*/, namespace: 'excerpt' }, ({ pluginData }) => ({
        contents: `export default ${JSON.stringify(pluginData)};`,
        watchFiles: [join(root, pluginData.file)],
      }));
    },
  };
}

/**
 * @param {string} root
 * @param {string} request `<file>#<name>`
 * @param {string} importer for error messages
 * @returns {Promise<Excerpt>}
 */
export async function readExcerpt(root, request, importer) {
  const [file = '', name = ''] = request.split('#');
  const refuse = (why) =>
    new Error(
      `${importer} shows \`excerpt:${request}\`, but ${why}. Fix the import in ${importer}, or restore the code.`,
    );
  if (!file.startsWith('src/') || file.includes('..')) throw refuse('it is not a file in `src`');
  const source = await readFile(join(root, file), 'utf8').catch(() => {
    throw refuse(`${file} does not exist`);
  });
  const { start, end } = findNode(parseSync(file, source).program, name.split('.'));
  if (start === undefined) throw refuse(`${file} does not have exactly one \`${name}\``);
  const [firstLine, lastLine] = [start, end].map((at) => source.slice(0, at).split('\n').length);
  const lines = source.split('\n').slice(firstLine - 1, lastLine);
  return { file, firstLine, lastLine, spans: toSpans(removeIndent(lines)) };
}

/** Finds the outermost node with the first name, the next name in it, and so on. @returns {object} empty without one */
function findNode(node, [name, ...names]) {
  if (name === undefined) return node;
  for (let level = [node]; level.length > 0; level = level.flatMap(listChildren)) {
    const [found, ...others] = level.filter((other) => other !== node && isNamed(other, name));
    if (found) return others.length > 0 ? {} : findNode(found, names);
  }
  return {};
}

const listChildren = (node) =>
  Object.values(node)
    .flat()
    .filter((value) => typeof value?.type === 'string');

function isNamed({ id, key, properties }, name) {
  return (
    id?.name === name ||
    key?.name === name ||
    properties?.some((one) => one.key?.name === 'id' && one.value.value === name)
  );
}

function removeIndent(lines) {
  const indent = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(indent)).join('\n');
}

/** Highlighted kinds. The rest is plain text, to save elements. */
const KINDS = { comment: 'comment', string: 'string', keyword: 'keyword', entity: 'tag' };

function toSpans(text) {
  const spans = [];
  let last;
  for (const [type, part] of tokenize(text)) {
    const kind = KINDS[SugarHigh.TokenTypes[type]];
    if (spans.length > 0 && kind === last) spans.push(kind ? [kind, spans.pop()[1] + part] : spans.pop() + part);
    else spans.push(kind ? [kind, part] : part);
    last = kind;
  }
  return spans;
}
