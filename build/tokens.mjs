/**
 * Splits TypeScript and TSX into tokens, also a fragment that no parser accepts. It distinguishes code, strings,
 * templates, comments, regular expressions and the text between tags, so that it reads brackets, apostrophes and slashes
 * correctly.
 *
 * @typedef {'comment' | 'string' | 'keyword' | 'name' | 'punctuation' | 'text'} TokenKind
 * @typedef {{ kind: TokenKind, text: string, start: number, end: number }} Token
 */

/** Keywords before a value: after them, `/` begins a regular expression and `<` an element. */
const BEFORE_VALUE = new Set(['return', 'throw', 'case', 'default', 'typeof', 'await', 'yield', 'in', 'of', 'else']);

const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//y;
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y;
const TAG_STRING = /'[^']*'|"[^"]*"/y;
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
const NUMBER = /\d[\w.]*/y;
const NAME = /[\p{ID_Start}$_@#][\p{ID_Continue}$]*/uy;
const TAG_NAME = /[\p{ID_Start}$_][\p{ID_Continue}$.:-]*/uy;
const OPERATOR = /=>|\?\.(?!\d)|[-+*/%&|^!=<>?:.,;~]/y;
const ELEMENT = /<(?:>|[\p{ID_Start}$_][\w$.:-]*(?!\w)(?!\s+extends\b)(?!\s*,))/uy;

/**
 * @param {string} source
 * @param {{ jsx?: boolean }} [options]
 * @returns {Token[]} without white space
 */
export function tokenise(source, { jsx = false } = {}) {
  /** @type {Token[]} */
  const tokens = [];
  /** Open contexts, innermost last. The file itself is code. */
  const open = ['code'];
  let at = 0;

  function take(kind, length) {
    const text = source.slice(at, at + length);
    tokens.push({ kind, text, start: at, end: at + length });
    at += length;
  }

  function takeMatch(kind, pattern) {
    pattern.lastIndex = at;
    const length = pattern.exec(source)?.[0].length ?? 0;
    if (length > 0) take(kind, length);
    return length > 0;
  }

  function opens(text, what) {
    take('punctuation', text.length);
    open.push(what);
  }

  function closes(length = 1) {
    if (open.length > 1) open.pop();
    take('punctuation', length);
  }

  function valueBegins() {
    const before = tokens.findLast(({ kind }) => kind !== 'comment');
    if (!before) return true;
    if (before.kind === 'keyword') return true;
    if (before.kind === 'string') return before.text.endsWith('${');
    return before.kind === 'punctuation' && !/^[)\]}]$|^\/?>$|`$/.test(before.text);
  }

  function takeCode() {
    const next = source[at];
    if (/\s/.test(next)) at += 1;
    else if (takeMatch('comment', COMMENT) || takeMatch('string', STRING)) return;
    else if (next === '`') takeTemplate();
    else if (next === '{' || next === '(' || next === '[') opens(next, 'code');
    else if (next === '}' || next === ')' || next === ']') closes();
    else if (jsx && next === '<' && isElement()) opens('<', 'tag');
    else if (next === '/' && valueBegins() && takeMatch('string', REGEX)) return;
    else if (takeMatch('name', NUMBER) || takeName() || takeMatch('punctuation', OPERATOR)) return;
    else take('text', 1);
  }

  function isElement() {
    ELEMENT.lastIndex = at;
    return ELEMENT.test(source) && valueBegins();
  }

  function takeName() {
    if (!takeMatch('name', NAME)) return false;
    const token = tokens.at(-1);
    const isMember = /^\??\.$/.test(tokens.at(-2)?.text ?? '');
    if (BEFORE_VALUE.has(token.text) && !isMember && !/^\s*[:?]?:/.test(source.slice(at))) token.kind = 'keyword';
    return true;
  }

  /** Takes a part of a template: from a quote or the end of a `${}` to the next `${` or quote. */
  function takeTemplate(from = 1) {
    let end = at + from;
    while (end < source.length && source[end] !== '`' && !source.startsWith('${', end))
      end += source[end] === '\\' ? 2 : 1;
    const goesOn = source[end] === '$';
    take('string', end + (goesOn ? 2 : 1) - at);
    if (!goesOn) return;
    open.push('template');
  }

  function takeTag() {
    const next = source[at];
    if (/\s/.test(next)) at += 1;
    else if (source.startsWith('/>', at)) closes(2);
    else if (next === '>') {
      take('punctuation', 1);
      open[open.length - 1] = 'children';
    } else if (next === '{') opens('{', 'code');
    else if (takeMatch('string', TAG_STRING) || takeMatch('comment', COMMENT)) return;
    else if (takeMatch('name', TAG_NAME)) return;
    else take('punctuation', 1);
  }

  function takeChildren() {
    const end = /<\/[\w$.:-]*\s*>/y;
    end.lastIndex = at;
    const tag = end.exec(source)?.[0];
    if (tag) {
      open.pop();
      take('punctuation', 2);
      if (tag.length > 3) take('name', tag.length - 3);
      take('punctuation', 1);
    } else if (source[at] === '<') opens('<', 'tag');
    else if (source[at] === '{') opens('{', 'code');
    else takeMatch('text', /[^<{]+/y);
  }

  while (at < source.length) {
    const where = open.at(-1);
    if (where === 'tag') takeTag();
    else if (where === 'children') takeChildren();
    else if (where === 'template' && source[at] === '}') {
      open.pop();
      takeTemplate();
    } else takeCode();
  }
  return tokens;
}
