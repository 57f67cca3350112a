import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { SugarHigh } from 'sugar-high/core';
import { tokenize } from 'sugar-high/lang/typescript';
import { findNode } from './syntax-tree.mjs';

/**
 * Excerpts of this project's sources, for pages that show their own code:
 * `import loader from 'excerpt:src/server/product/pages/streaming.ts#streaming'`. The name after `#` is that of a
 * declaration, a property or a method, or the `id` of an object in a table. If several match, the first is used.
 * `actions.send` is the `send` in `actions`. An excerpt consists of full lines.
 *
 * @typedef {string | [kind: string, text: string]} Span plain text, or text of a kind
 * @typedef {{ file: string, firstLine: number, lastLine: number, spans: Span[] }} Excerpt
 */

/** @param {string} root @returns {import('esbuild').Plugin} */
export function excerpts(root) {
  return {
    name: 'excerpts',
    setup(build) {
      build.onResolve({ filter: /^excerpt:/ }, ({ path }) => ({
        path: path.slice('excerpt:'.length),
        namespace: 'excerpt',
      }));
      build.onLoad({ filter: /.*/, namespace: 'excerpt' }, async ({ path }) => {
        const excerpt = await readExcerpt(root, path);
        return { contents: `export default ${JSON.stringify(excerpt)};`, watchFiles: [join(root, excerpt.file)] };
      });
    },
  };
}

/**
 * @param {string} root
 * @param {string} request `<file>#<name>`
 * @returns {Promise<Excerpt>}
 */
export async function readExcerpt(root, request) {
  const [file, name] = request.split('#');
  const source = await readFile(join(root, file), 'utf8');
  const find = (outer, word) => findNode(outer, (node) => isNamed(node, word));
  const found = name.split('.').reduce(find, parseSync(file, source).program);
  if (!found) throw new Error(`A page shows \`excerpt:${request}\`, but ${file} has no \`${name}\`.`);
  const [firstLine, lastLine] = [found.start, found.end].map((at) => source.slice(0, at).split('\n').length);
  const lines = source.split('\n').slice(firstLine - 1, lastLine);
  return { file, firstLine, lastLine, spans: toSpans(removeIndent(lines)) };
}

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
