import { createContext, Script } from 'node:vm';
import { MAX_SCRUBBED_LENGTH } from '../../src/server/limits.ts';
import { read } from '../../src/server/request/http-error.ts';
import { KiB, Second } from '../../src/shared/units.ts';

/** CPU time for one text (ms). A usual pattern needs 0.1, and one with quadratic time more than 100. */
const MAX_TIME = 50;

/** The length of a text that shows which texts are slow (UTF-16 code units). */
const SHORT_LENGTH = 2 * KiB;

/** The slowest short texts, which are tried in their full length (count). */
const MAX_SLOWEST = 8;

/** Ends a pattern with exponential time (ms). */
const PATIENCE = Second;

/**
 * Tries a pattern on its own characters, repeated so that they almost match. If its time grows faster than the text, one
 * of them takes too long, and visitors could send such a text to stop the server.
 */
export function isFastPattern({ source, flags }: RegExp): boolean {
  const context = createContext({
    pattern: new RegExp(source, `${flags.replace(/[gy]/g, '')}g`),
    now: () => performance.now(),
  });
  const fragments = listFragments(source);

  function run(length: number, tried: readonly Fragment[]): readonly number[] {
    Object.assign(context, { texts: tried.map((fragment) => fill(fragment, length)) });
    return REPLACE.runInContext(context, { timeout: PATIENCE }) as number[]; // what the script returns
  }

  function isFast(fragment: Fragment): boolean {
    const before = process.threadCpuUsage(); // other processes can use most of the machine
    run(MAX_SCRUBBED_LENGTH, [fragment]);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000 < MAX_TIME;
  }

  try {
    const times = run(SHORT_LENGTH, fragments);
    const slowestFirst = fragments
      .map((fragment, index) => ({ fragment, time: times[index] ?? 0 }))
      .sort((one, other) => other.time - one.time);
    const slowest = slowestFirst.slice(0, MAX_SLOWEST).map(({ fragment }) => fragment);
    // The first time, it can be compiled, and the caches of a busy machine are cold.
    return slowest.every((fragment) => isFast(fragment) || isFast(fragment) || isFast(fragment));
  } catch (error) {
    if (read(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

const REPLACE = new Script(
  'texts.map((text) => { const start = now(); text.replace(pattern, ""); return now() - start; })',
);

interface Fragment {
  /** What a match needs before the repeated part. */
  readonly start: string;
  readonly repeated: string;
}

/** The last character is one that patterns rarely match. */
function fill({ start, repeated }: Fragment, length: number): string {
  return `${start}${repeated.repeat(length / repeated.length)}\0`;
}

/** Atoms that are repeated together (counts). */
const SIZES = [1, 2, 3, 4, 5, 6, 8];

/** Characters of a class that are tried, and fragments of a pattern (counts). */
const MAX_CHOICES = 6;
const MAX_FRAGMENTS = 3000;

function listFragments(source: string): Fragment[] {
  const atoms = listAtoms(source);
  const found = new Map(
    ['a', 'A', '0', ' ', '-', '.', 'a1', ...source].map((part) => [part, { start: '', repeated: part }]),
  );
  for (let choice = 0; choice < MAX_CHOICES; choice += 1) {
    const characters = atoms.map((atom) => atom[choice % atom.length] ?? '');
    for (const [at, character] of characters.entries()) {
      for (const size of SIZES) {
        const repeated = characters.slice(at, at + size).join('');
        found.set(repeated, { start: '', repeated });
      }
      const start = characters.slice(0, at).join('');
      found.set(`${start}\0${character}`, { start, repeated: character });
    }
  }
  return [...found.values()].slice(0, MAX_FRAGMENTS);
}

/** A group, an assertion, a repetition or `|`, which are not characters, or an atom: a word, a class or a character. */
const PART =
  /\((?:\?(?:<?[=!:]|<\w{1,60}>|[a-z-]{0,9}:))?|\{\d{1,5}(?:,\d{0,5})?\}|[)|*+?^$]|(?<atom>[\w ]{2,60}(?![*+?{\w ])|\[(?:\\.|[^\]\\]){0,500}\]|\\(?:u[\da-f]{4}|x[\da-f]{2}|p\{[^}]{1,60}\}|.)|.)/gis;

/** Lists the characters, or the word, that each atom of a pattern can match. */
function listAtoms(source: string): string[][] {
  const atoms = [...source.matchAll(PART)].map(({ groups }) => toCharacters(groups?.atom ?? ''));
  return atoms.filter(({ length }) => length > 0);
}

function toCharacters(atom: string): string[] {
  if (atom === '.') return ['a'];
  if (/^[\w ]{2,}$/.test(atom)) return [atom];
  if (!/^\[.+\]$/s.test(atom)) return listEscaped(atom);
  const listed = listEscaped(atom.slice(1, -1));
  return atom[1] === '^' ? ['a', '1', '-', ' ', '"'].filter((one) => !listed.includes(one)) : listed;
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ d: '1', D: 'a', w: 'a1_', W: '-', s: ' \n', S: 'a', p: 'aA1', P: '-', b: '', B: '' },
  ...{ n: '\n', r: '\r', t: '\t' },
};

function listEscaped(text: string): string[] {
  const characters = [...text.matchAll(/\\(?:[ux]([\da-f]{2,4})|p\{[^}]{1,60}\}|.)|./gis)].flatMap(([one, code]) => {
    if (code) return String.fromCharCode(Number.parseInt(code, 16));
    return one.length > 1 ? [...(ESCAPES[one.charAt(1)] ?? one.charAt(1))] : one;
  });
  return [...new Set(characters)];
}
