type Colour = 'comment' | 'string' | 'keyword' | 'literal' | 'tag';
/** Source text, plain or coloured. */
type Span = string | readonly [kind: Colour, text: string];

const KEYWORDS =
  'as|async|await|break|case|catch|class|const|continue|default|delete|do|else|enum|export|extends|finally|for|from|function|if|implements|import|in|instanceof|interface|let|new|of|private|readonly|return|satisfies|static|super|switch|this|throw|try|type|typeof|var|void|while|yield';

/** A comment or template can extend beyond the fragment. A quoted string ends on its line. */
const TOKENS = new RegExp(
  [
    /(?<comment>\/\/.*|\/\*[\s\S]*?(?:\*\/|$))/,
    /(?<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*(?:`|$))/,
    /(?<![\w$)\]])(?<tag><\/?[A-Za-z][\w.]*(?=[\s/>]))/,
    new RegExp(`(?<![\\w$.])(?<keyword>${KEYWORDS})(?![\\w$]|\\s*:)`),
    /(?<![\w$.])(?<literal>true|false|null|undefined|\d[\w.]*)(?![\w$])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/**
 * Colours lines of TypeScript or TSX, as far as a fragment allows. A comment that began above it is recognized only by
 * its end. A mistake changes only the colour, not the text.
 */
export function colourSource(lines: readonly string[]): Span[][] {
  const text = lines.join('\n');
  const coloured: Span[][] = [[]];
  const from = findCommentEnd(text);
  addSpans(coloured, text.slice(0, from), 'comment');
  let at = from;
  for (const match of text.slice(from).matchAll(TOKENS)) {
    const start = from + match.index;
    const colour = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined)?.[0] as Colour; // a group for each
    addSpans(coloured, text.slice(at, start));
    addSpans(coloured, match[0], colour);
    at = start + match[0].length;
  }
  addSpans(coloured, text.slice(at));
  return coloured;
}

/** Returns the end of a block comment that began above the fragment, or 0. */
function findCommentEnd(text: string): number {
  const end = text.indexOf('*/');
  const start = text.indexOf('/*');
  return end >= 0 && (start === -1 || end < start) && /^\s*(?:\*|[^'"`]*\*\/)/.test(text) ? end + 2 : 0;
}

function addSpans(lines: Span[][], text: string, colour?: Colour): void {
  for (const [index, part] of text.split('\n').entries()) {
    if (index > 0) lines.push([]);
    if (part !== '') lines.at(-1)?.push(colour ? [colour, part] : part);
  }
}
