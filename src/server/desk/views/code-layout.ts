import { toClean } from '../../terminal/clean-text.ts';

// Writes code in the layout of Biome with this repository's settings, because servers do not have Biome.

/** JSON becomes a literal. A function writes other code, in lines of at most `room` UTF-16 code units. */
export type Code = unknown | ((room: number) => string);

/** A method and its arguments. */
export type MethodCall = readonly [name: string, ...args: Code[]];

/** Writes a literal. Escapes everything that could end a string or change how it looks. */
export function toLiteral(value: string): string {
  const quote = value.split("'").length > value.split('"').length ? '"' : "'";
  const text = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll(quote, `\\${quote}`);
  return toClean(quote + text + quote);
}

/** Writes a statement that calls methods in a chain: `await request(app).get('/').set({ … });`. */
export function toChain(head: string, calls: readonly MethodCall[], room: number): string {
  const [[only = '', ...args] = []] = calls;
  if (calls.length === 1) return `${toCall(`${head}.${only}`, args, room)};`;
  const flat = calls.map(([name, ...of]) => toFlatCall(`.${name}`, of));
  // Only the last call is followed by the semicolon.
  const lines = calls.map(([name, ...of], index) =>
    toCall(`.${name}`, of, room - 2 + Number(index < calls.length - 1)),
  );
  if (calls.every(([, ...of]) => of.every(isSimple))) {
    const line = head + flat.join('');
    if (line.length < room) return `${line};`;
    // An object with lines of its own begins on the line of the calls before it.
    const [name = '', object] = calls.at(-1) ?? [];
    const start = `${head}${flat.slice(0, -1).join('')}.${name}`;
    if (lines.at(-1)?.includes('({\n') && start.length + 2 <= room) return `${toCall(start, [object], room)};`;
  }
  return `${[head, ...lines.map(indent)].join('\n')};`;
}

/** Writes a call. Leaves room for the semicolon. */
export function toCall(head: string, args: readonly Code[], room: number): string {
  const flat = toFlatCall(head, args);
  if (flat !== undefined && flat.length < room) return flat;
  const before = args.slice(0, -1).map(toFlat);
  const start = `${head}(${before.map((line) => `${line}, `).join('')}`;
  const last = toOpened(args.at(-1), room, ',\n');
  if (last !== undefined && !before.includes(undefined) && start.length + last.indexOf('\n') <= room) {
    return `${start}${last})`;
  }
  return `${head}(\n${args.map((arg) => indent(`${toEntry('', arg, room - 2)},`)).join('\n')}\n)`;
}

export function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}

function toFlatCall(head: string, args: readonly Code[]): string | undefined {
  const lines = args.map(toFlat);
  return lines.includes(undefined) ? undefined : `${head}(${lines.join(', ')})`;
}

/** Writes code on one line. Returns undefined if Biome always gives it several. */
function toFlat(code: Code): string | undefined {
  if (typeof code === 'function') {
    const text: string = code(Number.POSITIVE_INFINITY);
    return text.includes('\n') ? undefined : text;
  }
  if (typeof code === 'string') return toLiteral(code);
  if (!isObject(code)) return String(code);
  const lines = Object.values(code).map(toFlat);
  if (lines.includes(undefined) || isTable(code)) return undefined;
  if (Array.isArray(code)) return `[${lines.join(', ')}]`;
  const entries = Object.keys(code).map((key, index) => `${toKey(key)}: ${lines[index]}`);
  return entries.length > 0 ? `{ ${entries.join(', ')} }` : '{}';
}

/** Writes code of which only the beginning is on the first line. Returns undefined if it cannot be split. */
function toOpened(code: Code, room: number, endOfArrow = ''): string | undefined {
  if (typeof code === 'function') {
    const text: string = code(room);
    if (text.includes('\n')) return text;
    return text.includes('=> ') ? text.replace('=> ', '=>\n  ') + endOfArrow : undefined;
  }
  if (!isObject(code) || Object.keys(code).length === 0) return undefined;
  const isArray = Array.isArray(code);
  const lines = Object.entries(code).map(([key, value]) =>
    indent(`${toEntry(isArray ? '' : `${toKey(key)}:`, value, room - 2)},`),
  );
  return [isArray ? '[' : '{', ...lines, isArray ? ']' : '}'].join('\n');
}

/** Writes an element, a property or an argument, without the comma after it. */
function toEntry(name: string, code: Code, room: number): string {
  const flat = toFlat(code);
  const start = name && `${name} `;
  if (flat !== undefined && start.length + flat.length < room) return start + flat;
  const opened = toOpened(code, room);
  if (opened !== undefined && start.length + opened.indexOf('\n') <= room) return start + opened;
  return name && (typeof code === 'string' || typeof code === 'function') ? `${name}\n  ${flat}` : start + flat;
}

/** Biome always splits a chain of calls if one of them has other arguments. */
function isSimple(code: Code): boolean {
  return !isObject(code) || Object.values(code).every((value) => !isObject(value) || Object.keys(value).length === 0);
}

/** Biome gives each element its own line if all of them have several parts. */
function isTable(code: object): boolean {
  const sizes = Array.isArray(code) ? code.map((element) => (isObject(element) ? Object.keys(element).length : 0)) : [];
  return sizes.length > 1 && sizes.every((size) => size > 1);
}

function toKey(key: string): string {
  if (key === '__proto__') return "['__proto__']";
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? key : toLiteral(key);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
