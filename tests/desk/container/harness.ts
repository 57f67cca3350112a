import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import buildOnce from '../../support/build-once.ts';
import { type Container, type ContainerOptions, startContainer } from './container.ts';
import { readImageConfig } from './dockerfile.ts';
import { type Image, layOut } from './lay-out.ts';

export const TOKEN = 'a-token-of-sixteen-characters';
export const PATIENCE = { timeout: 30_000, interval: 100 };

/** Starts a container that is stopped at the end of the test, and resolves when it listens. */
export async function run(image: Image, options: Partial<ContainerOptions> = {}): Promise<Container> {
  // Other load on a shared machine would trigger overload protection.
  const env = { OPERATOR_TOKEN: TOKEN, DRAIN_LAG: '0', OVERLOAD_DELAY: '0', ...options.env };
  const container = startContainer({ image, data: options.data ?? createVolume(image), env });
  onTestFinished(async () => {
    container.kill('SIGKILL');
    await container.ended;
  });
  await expect.poll(() => container.log(), PATIENCE).toContain('Listening on ');
  return container;
}

/** Creates a folder owned by the image's user. @param megabytes makes it a separate disk of this size */
export function createVolume(image: Image, megabytes?: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-volume-'));
  chownSync(folder, image.config.user.uid, image.config.user.gid);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  if (megabytes !== undefined) {
    const { uid, gid } = image.config.user;
    const options = `size=${megabytes}m,mode=755,uid=${uid},gid=${gid}`;
    spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
    onTestFinished(() => void spawnSync('umount', ['--lazy', folder]));
  }
  return folder;
}

/** Built once for the tests of a file. */
export function useImage(): () => Image {
  let image: Image | undefined;
  beforeAll(async () => {
    if (process.platform !== 'linux') return;
    await buildOnce();
    image = layOut(readImageConfig());
  });
  afterAll(() => image?.remove());
  return () => image as Image; // set before the first test
}

/** A script that signs in to the desk and sets `headers`. */
const SIGN_IN = `
  const ask = (path, init) => fetch('http://127.0.0.1:3000' + path, { redirect: 'manual', ...init });
  let signedIn;
  // The first pages can be served before the store is open.
  for (let left = 50; left > 0 && signedIn?.status !== 303; left -= 1) {
    if (signedIn) await new Promise((resolve) => setTimeout(resolve, 200));
    signedIn = await ask('/desk', { method: 'POST', body: new URLSearchParams({ _action: 'root.signIn', token: '${TOKEN}' }) });
  }
  const headers = { Cookie: signedIn.headers.get('set-cookie').split(';')[0] };`;

/** Returns the status of each of these pages of the desk. */
export function readDesk(container: Container, paths: readonly string[] = ['']): Promise<number[]> {
  return container.beside(`${SIGN_IN}
    const statuses = [];
    for (const path of ${JSON.stringify(paths)}) statuses.push((await ask('/desk' + path, { headers })).status);
    console.log(JSON.stringify(statuses));`);
}
