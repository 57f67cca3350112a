import { readFile } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { tokenise } from './tokens.mjs';

/**
 * Excerpts of this project's sources, for pages that show their own code:
 * `import loader from 'excerpt:src/server/product/pages/streaming.ts#streaming'`. The name after `#` is searched in this
 * order, and the excerpt consists of full lines:
 *
 * 1. a region, `// #region name` to `// #endregion`
 * 2. a declaration of that name
 * 3. a property or method of that name; `actions.send` is the `send` in `actions`
 * 4. the object of a table with this `id`
 *
 * If several match, the outermost is used.
 *
 * Without `#`, the excerpt is the whole file. Only files in `src` are allowed, because the build watches only these.
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
      build.onLoad({ filter: /.*/, namespace: 'excerpt' }, ({ pluginData }) => ({
        contents: toModule(pluginData),
        watchFiles: [join(root, pluginData.file)],
      }));
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
 * @param {string} importer for error messages
 * @returns {Promise<Excerpt>}
 */
export async function readExcerpt(root, request, importer) {
  const [file = '', fragment] = request.slice(PREFIX.length).split('#');
  if (!file.startsWith('src/') || file.includes('..')) {
    throw new Error(
      `${importer} imports \`${request}\`. An excerpt must be of a file in \`src\`, with its path from the project's root: \`excerpt:src/server/product/pages/x.ts#name\`.`,
    );
  }
  const source = await readFile(join(root, file), 'utf8').catch(() => {
    throw new Error(
      `${importer} shows \`${request}\`, but ${file} does not exist. Fix the import in ${importer}, or restore the file.`,
    );
  });
  const tokens = tokenise(source, { jsx: file.endsWith('x') });
  const code = tokens.filter(({ kind }) => kind !== 'comment');
  const range = fragment ? findFragment(source, code, fragment) : { start: 0, end: source.trimEnd().length };
  if (!range) {
    throw new Error(
      `${importer} shows \`${request}\`, but ${file} does not have exactly one \`${fragment}\`. Fix the import in ${importer}, or the name in ${file}.`,
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

/** Returns undefined if two are equally far out. */
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

/** Highlighted kinds. The rest is plain text, to save elements. */
const COLOURED = new Set(['comment', 'string', 'keyword', 'literal', 'tag']);

/** Returns the lines without their common indentation. */
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
