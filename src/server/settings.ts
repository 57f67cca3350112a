import { isIP } from 'node:net';
import * as z from 'zod';
import { Second } from '../shared/units.ts';
import { StartError } from './start-error.ts';

/**
 * Thrown if settings are invalid: the server does not start, and `--check` says why. The sentences name the settings, but
 * not their values.
 */
export class ConfigError extends StartError {
  readonly sentences: readonly string[];

  constructor(sentences: readonly string[]) {
    super(sentences.join('\n'));
    this.sentences = sentences;
  }
}

/** Names of networks that Express knows. */
const NETWORK_NAMES = new Set(['loopback', 'linklocal', 'uniquelocal']);

const ON = new Set(['1', 'true', 'on', 'yes']);
const OFF = new Set(['0', 'false', 'off', 'no']);

/** Text that `parse` converts to a value. If it returns undefined, the start fails with `The setting NAME` and the sentence. */
export function parsed<T>(sentence: string, parse: (text: string) => T | undefined) {
  return z.string().transform((text, context): T => {
    const value = parse(text.trim());
    if (value === undefined) {
      context.addIssue({ code: 'custom', message: sentence });
      return z.NEVER;
    }
    return value;
  });
}

/** A switch: `1`, `true`, `on` and `yes`, or `0`, `false`, `off` and `no`. */
export function toggle() {
  return parsed('is neither on nor off. Use 1, true, on or yes, or 0, false, off or no.', (text) => {
    const word = text.toLowerCase();
    return ON.has(word) ? true : OFF.has(word) ? false : undefined;
  });
}

export function seconds({ from = 0, to = 600, such = '5 or 0.5' } = {}) {
  return parsed(`is not a number of seconds. Use a number from ${from} to ${to}, such as ${such}.`, (text) => {
    const value = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    return value >= from && value <= to ? value * Second : undefined;
  });
}

export function whole({ what, from, to }: { what: string; from: number; to: number }) {
  return parsed(`is not a ${what}. Use a whole number from ${from} to ${to}.`, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return value >= from && value <= to ? value : undefined;
  });
}

export function port() {
  return whole({ what: 'port number', from: 0, to: 65535 });
}

/** Parses TRUST_PROXY. @returns undefined if the text does not say which proxies to trust */
export function parseTrust(text: string): number | readonly string[] | undefined {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  if (OFF.has(text.toLowerCase())) return 0;
  const parts = text.split(',').map((part) => part.trim().toLowerCase());
  return parts.every(isNetwork) ? parts : undefined;
}

function isNetwork(text: string): boolean {
  if (NETWORK_NAMES.has(text)) return true;
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  // A prefix of length 0 matches every address.
  return prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128));
}

/** A setting: its description for the docs and `.env.example`, and the schema of its value. */
interface Setting {
  readonly about: string;
  readonly example: string;
  readonly schema: z.ZodType;
}

export type SettingsTable = Readonly<Record<string, Setting>>;
export type SettingsValues<Table extends SettingsTable> = { [Name in keyof Table]: z.output<Table[Name]['schema']> };

/** The environment, as Node provides it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a table of settings. An empty variable counts as unset.
 *
 * @throws ConfigError with a sentence for each invalid value
 */
export function readSettings<const Table extends SettingsTable>(table: Table, env: Environment): SettingsValues<Table> {
  const sentences: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { schema, example }] of Object.entries(table)) {
    const given = env[name]?.trim() ? env[name] : undefined;
    const result = schema.safeParse(given);
    if (result.success) values[name] = result.data;
    else if (given === undefined) sentences.push(`The setting ${name} is missing. An example: ${name}=${example}.`);
    else sentences.push(...result.error.issues.map(({ message }) => `The setting ${name} ${message}`));
  }
  if (sentences.length > 0) throw new ConfigError(sentences);
  return values as SettingsValues<Table>; // every name of the table was parsed by its schema
}

/**
 * Lists settings that differ from a known one by one character. Short names differ from many by chance, and with another
 * first one, such as `EMAIL_FROM` and `MAIL_FROM`, they are other words.
 */
export function listMisspelled(env: Environment, known: readonly string[]): string[] {
  return Object.keys(env).flatMap((name) => {
    if (known.includes(name) || name.length < 6) return [];
    const meant = known.find((other) => other[0] === name[0] && isSimilar(name, other));
    return meant ? [`${name} is not a setting. Do you mean ${meant}?`] : [];
  });
}

function isSimilar(name: string, other: string): boolean {
  const at = [...name, ''].findIndex((character, index) => character !== other[index]);
  const [rest, otherRest] = [name.slice(at), other.slice(at)];
  return [rest, rest.slice(1)].includes(otherRest.slice(1)) || rest.slice(1) === otherRest;
}
