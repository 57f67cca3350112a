import { visitorKeys } from 'oxc-parser';
import { HELPER_NAME } from '../../src/shared/location-format.mjs';

/** Longest part of a statement that is used in a digest (UTF-16 code units). */
const maxDetail = 200;

/** Calls of the language and the platform whose error messages do not say where they were thrown. */
const throwingCalls = new Set(
  'JSON.parse JSON.stringify structuredClone atob btoa BigInt decodeURI decodeURIComponent encodeURI encodeURIComponent Object.keys Object.values Object.entries Object.assign Object.fromEntries'.split(
    ' ',
  ),
);
const throwingMethods = new Set(
  'toISOString repeat toFixed toPrecision normalize querySelector querySelectorAll closest matches'.split(' '),
);
const throwingConstructors = new Set(
  'URL RegExp Array Request Response Headers Intl.NumberFormat Intl.DateTimeFormat'.split(' '),
);

/**
 * @param {object} node a call
 * @param {string} callee
 * @param {(name: string) => boolean} isErrorName
 * @param {ReadonlySet<string>} helpers names that throw on behalf of their callers
 * @returns {import('./index-source.mjs').SourceLocation['kind']}
 */
export function toKind(node, callee, isErrorName, helpers) {
  const last = callee.slice(callee.lastIndexOf('.') + 1);
  if (isErrorName(last) && (node.type === 'NewExpression' || /^[A-Z]/.test(callee))) return 'thrown';
  if (node.type === 'NewExpression') return throwingConstructors.has(callee) ? 'call' : '';
  if (HELPER_NAME.test(callee) || callee.startsWith('assert.') || helpers.has(callee)) return 'thrown';
  return throwingCalls.has(callee) || (callee.includes('.') && throwingMethods.has(last)) ? 'call' : '';
}

/**
 * Returns the source of a node in one spelling. Formatters change white space, quotes, trailing commas and line breaks.
 *
 * @param {string} text of the file
 * @param {object} node
 * @param {readonly { start: number, end: number }[]} comments
 */
export function toStatement(text, node, comments) {
  const end = Math.min(node.end, node.start + 10 * maxDetail);
  const isInside = (part) => part.start >= node.start && part.start < end;
  const parts = [...listTexts(node), ...comments.map(({ start, end }) => ({ start, end, isComment: true }))]
    .filter(isInside)
    .sort((one, other) => one.start - other.start);
  const words = [];
  let from = node.start;
  for (const part of [...parts, { start: end, end, isComment: true }]) {
    words.push(...(text.slice(from, part.start).match(/[\p{ID_Continue}$]+|\S/gu) ?? []));
    if (!part.isComment) words.push(toQuoted(text.slice(part.start, part.end)));
    from = part.end;
  }
  let detail = '';
  for (const [index, word] of words.entries()) {
    const next = words[index + 1];
    if ((word === ',' && /^[)\]}]$/.test(next ?? '')) || (word === ';' && next === undefined)) continue;
    detail += /[\w$]$/.test(detail) && /^[\w$]/.test(word) ? ` ${word}` : word;
    if (detail.length > maxDetail) break;
  }
  return detail.slice(0, maxDetail);
}

/** Lists what has white space of its own: strings, regular expressions, templates without `${}`, and text between tags. */
function listTexts(node) {
  if (!node) return [];
  if (node.type === 'JSXText' || (node.type === 'Literal' && /^["'/]/.test(node.raw))) return [node];
  const children = (visitorKeys[node.type] ?? []).flatMap((key) => node[key] ?? []).flatMap(listTexts);
  const isBare = node.quasis?.[0].start > node.start;
  const quasis = node.quasis?.map(({ start, end, tail }) =>
    isBare ? { start: start - 1, end: end + (tail ? 1 : 2) } : { start, end },
  );
  return quasis ? [...quasis, ...children] : children;
}

/** Turns `'a'` into `"a"`. Templates stay as they are. */
function toQuoted(text) {
  if (!text.startsWith("'")) return text;
  return `"${text.slice(1, -1).replaceAll("\\'", "'").replaceAll('"', '\\"')}"`;
}
