import { createContext, Script } from 'node:vm';
import { MAX_SCRUBBED_LENGTH } from '../../src/server/limits.ts';
import { readProperty } from '../../src/shared/reporting/read-property.ts';
import { KiB, Second } from '../../src/shared/units.ts';

/** CPU time for one text (ms). A usual pattern needs 0.1, and one with quadratic time more than 100. */
const MAX_TIME = 50;

/** The length of a text that shows which texts are slow (UTF-16 code units). */
const SHORT_LENGTH = 2 * KiB;

/** The slowest short texts, which are tried in their full length (count). */
const MAX_SLOWEST = 8;

/** Ends a pattern with exponential time (ms). On a busy machine, the texts of another one can take seconds. */
const PATIENCE = 20 * Second;

/** Returns the CPU time of each text, because other processes can use most of the machine. */
const REPLACE = new Script(
  'texts.map((text) => { const before = readTime(); text.replace(pattern, ""); return readTime() - before; })',
);

/**
 * Tries a pattern on its own characters, repeated so that they almost match. If its time grows faster than the text, one
 * of them takes too long, and visitors could send such a text to stop the server.
 */
export function isFastPattern({ source, flags }: RegExp): boolean {
  const context = createContext({
    pattern: new RegExp(source, `${flags.replace(/[gy]/g, '')}g`),
    readTime: () => process.threadCpuUsage().user / 1000,
  });

  function measure(fragments: readonly Fragment[], length: number): readonly number[] {
    const fill = ({ start, repeated, end }: Fragment) => start + repeated.repeat(length / repeated.length) + end;
    context.texts = fragments.map(fill);
    return REPLACE.runInContext(context, { timeout: PATIENCE }) as number[]; // what the script returns
  }

  try {
    const fragments = listFragments(source);
    const times = measure(fragments, SHORT_LENGTH);
    const slowestFirst = [...fragments.keys()].sort((one, other) => (times[other] ?? 0) - (times[one] ?? 0));
    const slowest = slowestFirst.slice(0, MAX_SLOWEST).flatMap((index) => fragments[index] ?? []);
    const isFast = (fragment: Fragment) => (measure([fragment], MAX_SCRUBBED_LENGTH)[0] ?? 0) < MAX_TIME;
    // The first time, it can be compiled, and the caches of a busy machine are cold.
    return slowest.every((fragment) => isFast(fragment) || isFast(fragment) || isFast(fragment));
  } catch (error) {
    if (readProperty(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}

interface Fragment {
  /** What a match needs before the repeated part. */
  readonly start: string;
  readonly repeated: string;
  /** A character that patterns rarely match, or that this one excludes. */
  readonly end: string;
}

const CLASS = String.raw`\[(?:\\.|[^\]\\])*\]`;
const CHARACTER = String.raw`\\(?:u[\da-f]{4}|x[\da-f]{2}|p\{[^}]+\}|.)`;
/** Groups, assertions and repetitions, which match no character themselves. */
const STRUCTURE = String.raw`\((?:\?(?:<?[=!:]|<\w+>|[a-z-]*:))?|\{\d+(?:,\d*)?\}|[)|*+?^$]`;
const TOKEN = new RegExp(`(?<atom>${CLASS}|${CHARACTER})|(?<structure>${STRUCTURE})|.`, 'gis');

/** Atoms that are repeated together (counts), and characters that each can match. */
const SIZES = [1, 2, 3, 4, 5, 6, 8];
const CHOICES = [0, 1, 2, 3, 4];

function listFragments(source: string): Fragment[] {
  const alphabet = new Set(['a', 'A', '1', ' ', '-', '.', '\n', ...source]);
  const atoms = listAtoms(source).map((atom) => listMatches(atom, alphabet));
  const fragments = ['a', 'a1', ...alphabet].map((repeated) => ({ start: '', repeated }));
  for (const choice of CHOICES) {
    const characters = atoms.map((matches) => matches[choice % matches.length] ?? '');
    for (const [at, repeated] of characters.entries()) {
      for (const size of SIZES) fragments.push({ start: '', repeated: characters.slice(at, at + size).join('') });
      fragments.push({ start: characters.slice(0, at).join(''), repeated });
    }
  }
  const distinct = new Map(fragments.map((fragment) => [`${fragment.start}\0${fragment.repeated}`, fragment]));
  const excluded = [...source.matchAll(/\[\^(\w|[^\w\\])/g)].map(([, character = '']) => character);
  return [...distinct.values()]
    .filter(({ repeated }) => repeated !== '')
    .flatMap((fragment) => ['\0', ...new Set(excluded)].map((end) => ({ ...fragment, end })));
}

/** Lists what matches one character. What has to occur twice to nine times is listed as often. */
function listAtoms(source: string): string[] {
  const atoms: string[] = [];
  for (const [token, , structure] of source.matchAll(TOKEN)) {
    const times = Number(/^\{([2-9])\b/.exec(structure ?? '')?.[1] ?? 1);
    if (structure === undefined) atoms.push(token);
    else for (let more = 1; more < times; more += 1) atoms.push(atoms.at(-1) ?? '');
  }
  return atoms;
}

function listMatches(atom: string, alphabet: ReadonlySet<string>): string[] {
  try {
    const pattern = new RegExp(`^${atom}$`, 's');
    return [...alphabet].filter((character) => pattern.test(character));
  } catch {
    return [];
  }
}
