import { readFile } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { tokenise } from './tokens.mjs';

/**
 * Excerpts of this project's own sources, for pages that show how they are made:
 * `import loader from 'excerpt:src/server/product/pages/streaming.ts#streaming'`. What stands behind
 * `#` is looked for in this order, and is given in whole lines:
 *
 * 1. a region, `// #region name` to `// #endregion`
 * 2. what is declared by that name
 * 3. a property or method of that name; `actions.send` is the `send` in `actions`
 * 4. the object of a table whose `id` it is
 *
 * Of several, the one with the fewest brackets around it is meant.
 *
 * Without `#` it is the whole file. Files of `src` alone: the build is renewed when one of them changes.
 *
 * @typedef {string | [kind: string, text: string]} Span plain text, or text of a kind
 * @typedef {{ file: string, firstLine: number, lastLine: number, spans: Span[] }} Excerpt
 */

const PREFIX = 'excerpt:';

/** @param {string} root @returns {import('esbuild').Plugin} */
export function excerpts(root) {
  return {
    name: 'excerpts',
    setup(build) {
      build.onResolve({ filter: /^excerpt:/ }, async ({ path, importer }) => {
        try {
          const excerpt = await readExcerpt(root, path, toName(root, importer));
          return { path: path.slice(PREFIX.length), namespace: 'excerpt', pluginData: excerpt };
        } catch (error) {
          return { errors: [{ text: error.message }] };
        }
      });
      build.onLoad({ filter: /.*/, namespace: 'excerpt' }, ({ pluginData }) => ({ contents: toModule(pluginData) }));
    },
  };
}

/** The same for Vite, which runs the tests. @param {string} root */
export function excerptsForVite(root) {
  const mark = `\0${PREFIX}`;
  return {
    name: 'excerpts',
    enforce: /** @type {const} */ ('pre'),
    resolveId(id) {
      return id.startsWith(PREFIX) ? `\0${id}` : undefined;
    },
    async load(id) {
      return id.startsWith(mark) ? toModule(await readExcerpt(root, id.slice(1), 'A page')) : undefined;
    },
  };
}

/** @param {Excerpt} excerpt */
const toModule = (excerpt) => `export default ${JSON.stringify(excerpt)};`;

const toName = (root, importer) =>
  isAbsolute(importer) ? relative(root, importer).replaceAll('\\', '/') : importer.replace(/^\w+:/, '');

/**
 * @param {string} root
 * @param {string} request `excerpt:<file>#<fragment>`
 * @param {string} importer for the sentence where something is wrong
 * @returns {Promise<Excerpt>}
 */
export async function readExcerpt(root, request, importer) {
  const [file = '', fragment] = request.slice(PREFIX.length).split('#');
  if (!file.startsWith('src/') || file.includes('..')) {
    throw new Error(
      `${importer} imports \`${request}\`. An excerpt is of a file in \`src\`, named from the root of the project: \`excerpt:src/server/product/pages/x.ts#name\`.`,
    );
  }
  const source = await readFile(join(root, file), 'utf8').catch(() => {
    throw new Error(
      `${importer} shows \`${request}\`, but ${file} is not there. Mend the import in ${importer}, or put the file back.`,
    );
  });
  const tokens = tokenise(source, { jsx: file.endsWith('x') });
  const code = tokens.filter(({ kind }) => kind !== 'comment');
  const range = fragment ? findFragment(source, code, fragment) : { start: 0, end: source.trimEnd().length };
  if (!range) {
    throw new Error(
      `${importer} shows \`${request}\`, but nothing in ${file} is named \`${fragment}\` once and no more. Mend the import in ${importer}, or give the lines that it meant back their name in ${file}.`,
    );
  }
  const start = source.lastIndexOf('\n', range.start - 1) + 1;
  const end = toLineEnd(source, range.end);
  return {
    file,
    firstLine: countLines(source, start),
    lastLine: countLines(source, end),
    spans: toSpans(source, tokens, start, end),
  };
}

function findFragment(source, code, fragment) {
  const region = findRegion(source, fragment);
  if (region) return region;
  let range = { start: 0, end: source.length };
  for (const name of fragment.split('.')) {
    const inside = code.filter(({ start, end }) => start >= range.start && end <= range.end);
    range = findDeclaration(inside, name) ?? findProperty(inside, name) ?? findById(inside, name);
    if (!range) return undefined;
  }
  return range;
}

function findRegion(source, name) {
  const [begin, ...others] = source.matchAll(/^.*#region (\S+).*\n/gm).filter(([, found]) => found === name);
  if (!begin || others.length > 0) return undefined;
  const start = begin.index + begin[0].length;
  const end = source.slice(start).search(/^.*#endregion/m);
  return end < 0 ? undefined : { start, end: start + end - 1 };
}

const DECLARES = new Set(['const', 'let', 'function', 'class', 'interface', 'enum', 'type']);
const MODIFIERS = new Set(['export', 'default', 'async', 'declare', 'abstract']);
const BEFORE_KEY = new Set([undefined, ',', ';', '{', '}', 'async', 'readonly']);
const HAS_BODY = new Set(['function', 'class', 'interface', 'enum']);

function findDeclaration(tokens, name) {
  const found = tokens.flatMap((token, index) =>
    token.text === name && DECLARES.has(tokens[index - 1]?.text) ? [{ token, index }] : [],
  );
  const only = findOutermost(found);
  if (!only) return undefined;
  const { depth } = only.token;
  const isEnd = HAS_BODY.has(tokens[only.index - 1].text) ? isBodyEnd : ({ text }) => text === ';';
  const last = tokens.find((token, index) => index > only.index && token.depth === depth && isEnd(token));
  let first = only.index - 1;
  while (MODIFIERS.has(tokens[first - 1]?.text)) first -= 1;
  return last && { start: tokens[first].start, end: last.end };
}

const isBodyEnd = ({ text }) => text === '}';

function findProperty(tokens, name) {
  const found = tokens.flatMap((token, index) => {
    const isKey = token.depth > 0 && BEFORE_KEY.has(tokens[index - 1]?.text) && /^[:(]$/.test(tokens[index + 1]?.text);
    return token.text === name && isKey ? [{ token, index }] : [];
  });
  const only = findOutermost(found);
  if (!only) return undefined;
  const { depth } = only.token;
  const after = tokens.slice(only.index + 1);
  const next = after.findIndex((token) => token.depth < depth || (token.depth === depth && /^[,;]$/.test(token.text)));
  const last = after[next]?.depth === depth ? after[next] : after.at(next - (next < 0 ? 0 : 1));
  return last && { start: only.token.start, end: last.end };
}

/** Where two are as far out, neither is meant. */
function findOutermost(found) {
  const depth = Math.min(...found.map(({ token }) => token.depth));
  const outermost = found.filter(({ token }) => token.depth === depth);
  return outermost.length === 1 ? outermost[0] : undefined;
}

function findById(tokens, id) {
  const index = tokens.findIndex(
    ({ kind, text }, at) =>
      kind === 'string' && text.slice(1, -1) === id && tokens[at - 1]?.text === ':' && tokens[at - 2]?.text === 'id',
  );
  if (index < 0) return undefined;
  const { depth } = tokens[index];
  const first = tokens.findLastIndex((token, at) => at < index && token.depth === depth - 1);
  const last = tokens.findIndex((token, at) => at > index && token.depth === depth - 1);
  if (first < 0 || last < 0) return undefined;
  return { start: tokens[first].start, end: tokens[last + 1]?.text === ',' ? tokens[last + 1].end : tokens[last].end };
}

/** What a page colours; the rest is plain, so that few elements are needed. */
const COLOURED = new Set(['comment', 'string', 'keyword', 'literal', 'tag']);

/** The lines without the blanks that all of them begin with. */
function toSpans(source, tokens, start, end) {
  const lines = source.slice(start, end).split('\n');
  const indent = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  const strip = (text) => text.replaceAll(`\n${' '.repeat(indent)}`, '\n');
  const spans = [];
  let at = start + indent;
  for (const token of tokens.filter((token) => token.start >= start && token.end <= end && COLOURED.has(token.kind))) {
    if (token.start > at) spans.push(strip(source.slice(at, token.start)));
    spans.push([token.kind, strip(token.text)]);
    at = token.end;
  }
  if (at < end) spans.push(strip(source.slice(at, end)));
  return spans;
}

const countLines = (source, end) => source.slice(0, end).split('\n').length;

function toLineEnd(source, at) {
  const end = source.indexOf('\n', at);
  return end < 0 ? source.length : end;
}
