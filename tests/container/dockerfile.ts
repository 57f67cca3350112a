import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const project = fileURLToPath(new URL('../..', import.meta.url));

/** A line of the Dockerfile: `COPY`, and the text after it. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The image as described by the last stage. */
export interface ImageConfig {
  /** The base image; `scratch` for none. */
  readonly from: string;
  readonly copies: readonly Copy[];
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** User and group, as numbers. */
  readonly user: { readonly uid: number; readonly gid: number };
  readonly volumes: readonly string[];
  /** Entry point and command. */
  readonly command: readonly string[];
  readonly health: readonly string[];
  /** The RUN commands of the stage that the last one copies from. */
  readonly runs: readonly string[];
}

export interface Copy {
  readonly from: string;
  readonly owner: number;
  readonly sources: readonly string[];
  readonly to: string;
}

/** Reads the Dockerfile. Throws if it contains instructions that the tests do not support. */
export function readImageConfig(text = readFileSync(`${project}/Dockerfile`, 'utf8')): ImageConfig {
  const [build = [], last = []] = toStages(text).slice(-2);
  for (const { name } of last)
    if (!KNOWN.has(name)) throw new Error(`The test does not know ${name} in the Dockerfile.`);
  const all = (name: string) => last.filter((line) => line.name === name).map((line) => line.text);
  const only = (name: string): string => {
    const [found, ...more] = all(name);
    if (found === undefined || more.length > 0) throw new Error(`The Dockerfile needs ${name} once in its last stage.`);
    return found;
  };
  const [uid, gid] = only('USER').split(':').map(Number);
  if (!uid || !gid) throw new Error('USER must be two numbers other than 0: names are unknown outside the image.');
  return {
    from: only('FROM'),
    copies: all('COPY').map(toCopy),
    workdir: only('WORKDIR'),
    env: Object.fromEntries(all('ENV').flatMap((line) => line.split(/\s+/).map(toPair))),
    user: { uid, gid },
    volumes: all('VOLUME'),
    command: [...toCommand(only('ENTRYPOINT')), ...toCommand(only('CMD'))],
    health: toCommand(only('HEALTHCHECK').replace(/^.*?CMD /, '')),
    runs: build.filter(({ name }) => name === 'RUN').map((line) => line.text),
  };
}

const KNOWN = new Set([
  'FROM',
  'COPY',
  'WORKDIR',
  'ENV',
  'USER',
  'VOLUME',
  'EXPOSE',
  'ENTRYPOINT',
  'CMD',
  'HEALTHCHECK',
]);

function toStages(text: string): Instruction[][] {
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, text: rest.trim() });
  }
  return stages;
}

function toCopy(text: string): Copy {
  const words = text.split(/\s+/);
  const option = (name: string) => words.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
  const paths = words.filter((word) => !word.startsWith('--'));
  return {
    from: option('from') ?? '',
    owner: Number.parseInt(option('chown') ?? '0', 10),
    sources: paths.slice(0, -1),
    to: paths.at(-1) ?? '',
  };
}

function toPair(word: string): [string, string] {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1)];
}

/** Accepts only the exec form, because a shell would not forward signals. */
function toCommand(text: string): string[] {
  return JSON.parse(text) as string[]; // Docker's exec form
}
