import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';
import { toCallKey } from '../../src/server/desk/store/incident-key.ts';
import { presentOccurrence } from '../../src/server/desk/views/present-occurrence.ts';
import type { MemoryStory } from '../../src/server/desk/worker/processes/heartbeat.ts';
import type { WholeShape } from '../../src/shared/desk/shapes.ts';
import { openTestDesk } from './desk.ts';

/** Allows for other tests on the same machine. */
export const PATIENCE = { timeout: 20_000 };

const childFile = fileURLToPath(new URL('./leaking-child.ts', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** Passed in, because concurrent tests each have their own. */
export type Context = Pick<TestContext, 'expect' | 'onTestFinished'>;

/** Starts a server that leaks memory. @param heap its limit (MiB) */
export function startLeak(
  { onTestFinished }: Context,
  heap: number,
  env: Record<string, string>,
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [`--max-old-space-size=${heap}`, childFile], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, out, err })),
  );
  return { child, ended };
}

/** The incident that the next start records for the crash. */
export async function readDeath({ expect, onTestFinished }: Context, dataDir: string): Promise<WholeShape | undefined> {
  const desk = await openTestDesk({ dataDir });
  onTestFinished(() => desk.close());
  const findDeath = async () =>
    (await desk.ask('listIncidents', { limit: 10 })).incidents.find(({ kind }) => kind === 'unclean-death');
  await expect.poll(findDeath, PATIENCE).toBeDefined();
  const digest = (await findDeath())?.digest ?? '';
  const { occurrences } = await desk.ask('listOccurrences', toCallKey(digest, 'production'), {
    limit: 1,
    withWholes: true,
  });
  const [occurrence] = occurrences;
  return occurrence && presentOccurrence(occurrence, {}).whole;
}

/** The memory history in the last heartbeat. */
export function readStory(dataDir: string): MemoryStory | undefined {
  const file = join(dataDir, 'desk.sqlite');
  if (!existsSync(file)) return undefined;
  const store = new DatabaseSync(file, { readOnly: true });
  try {
    const text = store.prepare('SELECT memory_story FROM desk_runs').get()?.memory_story;
    return typeof text === 'string' ? (JSON.parse(text) as MemoryStory) : undefined;
  } catch {
    return undefined; // The store has no tables yet.
  } finally {
    store.close();
  }
}

export function growthOf(whole: WholeShape | undefined) {
  return whole?.story?.kind === 'unclean-death' ? whole.story.growth : undefined;
}
