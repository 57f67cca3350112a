import { type ParseArgsConfig, parseArgs } from 'node:util';
import { SORTS, WITHIN } from '../../../shared/desk/choices.ts';
import { USUAL_VIEW } from '../../../shared/desk/href.ts';
import type { ViewShape } from '../../../shared/desk/shapes.ts';
import { KIND_WORDS, STATE_WORDS } from '../../../shared/desk/words.ts';
import { Day, Hour, Minute } from '../../../shared/units.ts';
import { parseAddress } from '../../engine/errors/parse-address.ts';
import { toClean } from '../../terminal/clean-text.ts';
import { UsageError } from '../../terminal/terminal-error.ts';
import type { StateChange } from '../store/incidents/change-incident.ts';

export type Command =
  | { readonly is: 'help' }
  | { readonly is: 'list'; readonly view: ViewShape; readonly limit: number; readonly json: boolean }
  /** @property text a digest, an address, or the id of a request or a trace */
  | { readonly is: 'show'; readonly text: string; readonly json: boolean }
  | { readonly is: 'test'; readonly text: string; readonly force: boolean }
  | ChangeCommand
  /** @property name of a token; undefined if there is only one */
  | { readonly is: 'link'; readonly name: string | undefined }
  | { readonly is: 'backup'; readonly file: string; readonly force: boolean }
  /** @property file undefined with PostgreSQL */
  | { readonly is: 'restore'; readonly file: string | undefined }
  | { readonly is: 'replay' }
  | { readonly is: 'forget'; readonly whom: string };

export interface ChangeCommand {
  readonly is: 'change';
  readonly digests: readonly string[];
  readonly to: StateChange;
  /** Undefined for the server's environment. */
  readonly environment: string | undefined;
  /** Undefined for the system user. */
  readonly author: string | undefined;
}

type Options = NonNullable<ParseArgsConfig['options']>;
type Values = Readonly<Record<string, string | boolean | undefined>>;

const TEXT = { type: 'string' } as const;
const SWITCH = { type: 'boolean' } as const;

const LIST_OPTIONS = {
  state: TEXT,
  search: TEXT,
  release: TEXT,
  environment: TEXT,
  route: TEXT,
  side: TEXT,
  kind: TEXT,
  assignee: TEXT,
  within: TEXT,
  sort: TEXT,
  limit: TEXT,
} satisfies Options;

const CHANGE_OPTIONS = { environment: TEXT, as: TEXT } satisfies Options;

interface Reader {
  readonly options: Options;
  /** @param rest the arguments after the name. @param now milliseconds since 1970 */
  read(rest: readonly string[], values: Values, now: number): Command;
}

const READERS: Readonly<Record<string, Reader>> = {
  help: { options: {}, read: () => ({ is: 'help' }) },
  list: { options: { ...LIST_OPTIONS, json: SWITCH }, read: readList },
  resolve: {
    options: { in: TEXT, ...CHANGE_OPTIONS },
    read: (rest, values) => toChange(rest, values, { state: 'resolved', in: readResolvedIn(values.in) }),
  },
  ignore: {
    options: { for: TEXT, 'until-more': TEXT, ...CHANGE_OPTIONS },
    read: (rest, values, now) => toChange(rest, values, toIgnored(values, now)),
  },
  reopen: { options: CHANGE_OPTIONS, read: (rest, values) => toChange(rest, values, { state: 'open' }) },
  link: { options: {}, read: (rest) => ({ is: 'link', name: readOptionalOne(rest, 'the name of one token') }) },
  backup: {
    options: { force: SWITCH },
    read: (rest, values) => ({ is: 'backup', file: readOne(rest, 'backup <file>'), force: values.force === true }),
  },
  restore: { options: {}, read: (rest) => ({ is: 'restore', file: readOptionalOne(rest, 'one file') }) },
  replay: { options: {}, read: readReplay },
  forget: {
    options: {},
    read: (rest) => ({
      is: 'forget',
      whom: readOne(rest, 'forget <visitor id, email, IP address or address of an occurrence>'),
    }),
  },
};

/** The options of all commands, so that an option of another command gets a specific error. */
const ALL_OPTIONS: Options = Object.assign({}, ...Object.values(READERS).map(({ options }) => options), {
  help: { type: 'boolean', short: 'h' },
  test: SWITCH,
});

/**
 * @param now milliseconds since 1970
 * @throws UsageError
 */
export function parseCommand(args: readonly string[], now: number): Command {
  const { values, positionals } = parseAll(args);
  if (values.help) return { is: 'help' };
  const [first, ...rest] = positionals;
  if (first === undefined) return readAs('list', [], values, now);
  if (Object.hasOwn(READERS, first)) return readAs(first, rest, values, now);
  if (rest.length > 0 && !parseAddress(positionals.join(''))) {
    throw new UsageError(`Unknown command ${quote(first)}. ${SEE_HELP}`);
  }
  if (values.test === true) {
    requireKnown(values, { test: SWITCH, force: SWITCH }, '--test');
    return { is: 'test', text: positionals.join(' '), force: values.force === true };
  }
  requireKnown(values, { json: SWITCH }, 'showing an incident');
  return { is: 'show', text: positionals.join(' '), json: values.json === true };
}

function readAs(name: string, rest: readonly string[], values: Values, now: number): Command {
  const reader = READERS[name];
  if (!reader) throw new UsageError(SEE_HELP);
  requireKnown(values, reader.options, name);
  return reader.read(rest, values, now);
}

const SEE_HELP = 'Run it with "help" to see all commands and options.';

/** A request or visitor id, which can begin with a dash. All options are shorter. */
const DASHED_ID = /^-[\w-]{15,}$/;

function parseAll(args: readonly string[]): { readonly values: Values; readonly positionals: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: args.filter((arg) => !DASHED_ID.test(arg)),
      options: ALL_OPTIONS,
      allowPositionals: true,
      strict: true,
    });
    const ids = args.filter((arg) => DASHED_ID.test(arg));
    return { values: values as Values, positionals: [...positionals, ...ids] }; // none is `multiple`
  } catch (error) {
    throw new UsageError(toSentence(error));
  }
}

/** Shortens Node's message, which is a whole paragraph. */
function toSentence(error: unknown): string {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  const option = /'(-[^' ]*)/.exec(message)?.[1] ?? '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `Unknown option ${toClean(option)}. ${SEE_HELP}`;
  return `The option ${toClean(option)} ${message.includes('does not take') ? 'takes no value' : 'needs a value'}. ${SEE_HELP}`;
}

function requireKnown(values: Values, options: Options, name: string): void {
  const wrong = Object.keys(values).find((option) => !Object.hasOwn(options, option));
  if (wrong !== undefined) throw new UsageError(`The option --${wrong} does not exist for ${name}. ${SEE_HELP}`);
}

function readList(rest: readonly string[], values: Values): Command {
  const [first] = rest;
  if (first !== undefined) throw new UsageError(`list takes only options, but got ${quote(first)}. ${SEE_HELP}`);
  const pick = <Name extends keyof ViewShape>(name: Name, known: readonly string[]) => {
    const value = values[name];
    if (value === undefined) return USUAL_VIEW[name];
    if (!known.includes(String(value))) throw new UsageError(`--${name} must be one of ${known.join(', ')}.`);
    return value as ViewShape[Name]; // it is in `known`
  };
  const view: ViewShape = {
    ...USUAL_VIEW,
    state: pick('state', [...Object.keys(STATE_WORDS), 'all']),
    sort: pick(
      'sort',
      SORTS.map(([value]) => value),
    ),
    side: pick('side', ['server', 'browser']),
    kind: pick('kind', Object.keys(KIND_WORDS)),
    within: pick(
      'within',
      WITHIN.map(([value]) => value),
    ),
    search: readText(values.search),
    route: readText(values.route),
    release: readText(values.release),
    environment: readText(values.environment),
    assignee: readText(values.assignee),
  };
  return { is: 'list', view, limit: readLimit(values.limit), json: values.json === true };
}

function readReplay([first]: readonly string[]): Command {
  if (first !== undefined) throw new UsageError(`replay takes no arguments, but got ${quote(first)}. ${SEE_HELP}`);
  return { is: 'replay' };
}

/** The default and the greatest number of listed incidents (counts). */
const USUAL_LIMIT = 30;
export const MAX_LIMIT = 1000;

function readLimit(value: Values[string]): number {
  if (value === undefined) return USUAL_LIMIT;
  return readCount(value, '--limit', MAX_LIMIT);
}

function readCount(value: Values[string], option: string, max: number): number {
  const count = /^\d{1,9}$/.test(String(value)) ? Number(value) : 0;
  if (count < 1 || count > max) throw new UsageError(`${option} must be a whole number from 1 to ${max}.`);
  return count;
}

function readText(value: Values[string]): string {
  return typeof value === 'string' ? value.trim() : '';
}

function readResolvedIn(value: Values[string]): 'now' | 'next' {
  if (value === undefined) return 'now';
  if (value !== 'now' && value !== 'next') throw new UsageError('--in must be "now" or "next" (the next release).');
  return value;
}

/** The greatest value of `--until-more` (a count). */
const MAX_GROWTH = 1_000_000;

function toIgnored(values: Values, now: number): StateChange {
  const time = values.for;
  const more = values['until-more'];
  if (time !== undefined && more !== undefined) {
    throw new UsageError('Use either --for or --until-more, not both.');
  }
  if (time !== undefined) return { state: 'ignored', until: now + readDuration(String(time)) };
  if (more !== undefined) return { state: 'ignored', growth: readCount(more, '--until-more', MAX_GROWTH) };
  return { state: 'ignored' };
}

const UNITS: Readonly<Record<string, number>> = { m: Minute, h: Hour, d: Day, w: 7 * Day };

function readDuration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,4})([mhdw])$/.exec(text.trim()) ?? [];
  const time = Number(count) * (UNITS[unit] ?? 0);
  if (time === 0) throw new UsageError('--for must be a duration such as 30m, 12h, 7d or 2w.');
  return time;
}

function toChange(rest: readonly string[], values: Values, to: StateChange): ChangeCommand {
  if (rest.length === 0) throw new UsageError('Name at least one incident by its digest, as the list shows it.');
  const digests = rest.map((text) => {
    const address = parseAddress(text);
    if (!address)
      throw new UsageError(`${quote(text)} is not a digest. A digest has 8 letters and digits, such as 7K3QM2XA.`);
    return address.digest;
  });
  const environment = readText(values.environment) || undefined;
  return { is: 'change', digests: [...new Set(digests)], to, environment, author: readAuthor(values.as) };
}

function readAuthor(value: Values[string]): string | undefined {
  if (value === undefined) return undefined;
  const name = String(value).trim();
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,39}$/u.test(name)) {
    throw new UsageError('--as must be a name of up to 40 letters, digits, spaces and . _ @ - characters.');
  }
  return name;
}

function readOne(rest: readonly string[], usage: string): string {
  const [first, ...others] = rest;
  if (first === undefined || first === '' || others.length > 0) throw new UsageError(`Usage: ${usage}`);
  return first;
}

function readOptionalOne(rest: readonly string[], what: string): string | undefined {
  if (rest.length > 1) throw new UsageError(`Expected ${what} at most, but got ${rest.length}.`);
  return rest[0];
}

function quote(text: string): string {
  return `"${toClean(text.slice(0, 100))}"`;
}
