import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Container, type ContainerOptions, startContainer } from './container.ts';
import type { Image } from './lay-out.ts';
import { createMemoryLimit, type MemoryLimit } from './memory-limit.ts';

export const MiB = 1024 * 1024;
export const TOKEN = 'a-token-of-sixteen-characters';
export const PATIENCE = { timeout: 30_000, interval: 100 };

/** Starts a container that is stopped at the end of the test, and resolves when it listens. */
export async function run(image: Image, options: Partial<ContainerOptions> = {}): Promise<Container> {
  const env = { OPERATOR_TOKEN: TOKEN, DRAIN_LAG: '0', ...options.env };
  const container = startContainer({ image, data: options.data ?? createVolume(image), memory: options.memory, env });
  onTestFinished(async () => {
    container.kill('SIGKILL');
    await container.ended;
  });
  await container.listens;
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

export function limitMemory(megabytes: number): MemoryLimit | undefined {
  const memory = createMemoryLimit(megabytes * MiB);
  if (memory) onTestFinished(() => memory.remove());
  return memory;
}

/** Signs in to the desk, and reads whether its latest incident is a killed process. */
export function readDesk(container: Container): Promise<{ desk: number; latest: string }> {
  return container.beside(`
    const ask = (path, init) => fetch('http://127.0.0.1:3000' + path, { redirect: 'manual', ...init });
    const body = new URLSearchParams({ _action: 'root.signIn', token: '${TOKEN}' });
    let signedIn;
    // The first pages can be served before the store is open.
    for (let left = 50; left > 0 && signedIn?.status !== 303; left -= 1) {
      if (signedIn) await new Promise((resolve) => setTimeout(resolve, 200));
      signedIn = await ask('/desk', { method: 'POST', body });
    }
    const headers = { Cookie: signedIn.headers.get('set-cookie').split(';')[0] };
    const desk = await ask('/desk', { headers });
    const [, path] = /href="(\\/desk\\/[0-9A-Z]{8})[?"]/.exec(await desk.text()) ?? [];
    const text = path ? await (await ask(path, { headers })).text() : '';
    console.log(JSON.stringify({ desk: desk.status, latest: path ? /Process died/.exec(text)?.[0] ?? 'another' : 'none' }));`);
}
