import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const project = fileURLToPath(new URL('../../..', import.meta.url));

export type ImageConfig = ReturnType<typeof readImageConfig>;

/** Reads the image that the last stage of the Dockerfile describes. */
export function readImageConfig() {
  const [build = [], last = []] = toStages(readFileSync(`${project}/Dockerfile`, 'utf8')).slice(-2);
  const all = (name: string) => last.filter((line) => line.name === name).map(({ text }) => text);
  const only = (name: string): string => {
    const [found, ...more] = all(name);
    if (found === undefined || more.length > 0) throw new Error(`The Dockerfile needs ${name} once in its last stage.`);
    return found;
  };
  const [uid, gid] = only('USER').split(':').map(Number);
  if (!uid || !gid) throw new Error('USER must be two numbers other than 0: names are unknown outside the image.');
  return {
    copies: all('COPY').map(toCopy),
    workdir: only('WORKDIR'),
    env: Object.fromEntries(all('ENV').flatMap((line) => line.split(/\s+/).map((pair) => pair.split('=', 2)))),
    user: { uid, gid },
    volumes: all('VOLUME'),
    command: [only('ENTRYPOINT'), only('CMD')].flatMap(toCommand),
    health: toCommand(only('HEALTHCHECK').replace(/^.*?CMD /, '')),
    /** The RUN commands of the stage that the last one copies from. */
    runs: build.filter(({ name }) => name === 'RUN').map(({ text }) => text),
  };
}

function toStages(text: string) {
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .matchAll(/^(\w+)\s+(.*)$/gm);
  const stages: { readonly name: string; readonly text: string }[][] = [];
  for (const [, name = '', rest = ''] of lines) {
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, text: rest.trim() });
  }
  return stages;
}

function toCopy(text: string) {
  const paths = text.split(/\s+/).filter((word) => !word.startsWith('--'));
  const owner = Number(/--chown=(\d+)/.exec(text)?.[1] ?? 0);
  return { owner, sources: paths.slice(0, -1), to: paths.at(-1) ?? '' };
}

/** Accepts only the exec form, because a shell would not forward signals. */
function toCommand(text: string): string[] {
  return JSON.parse(text) as string[]; // Docker's exec form
}
