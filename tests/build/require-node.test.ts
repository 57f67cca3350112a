import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { createFolder } from '../support/folder.ts';

const guard = fileURLToPath(new URL('../../bin/require-node.mjs', import.meta.url));
const root = createFolder(afterAll);
const pinned = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin');
mkdirSync(join(root, 'bin'));
cpSync(guard, join(root, 'bin/require-node.mjs'));
writeFileSync(
  join(root, 'bin/command.mjs'),
  "import { hasRequiredNode } from './require-node.mjs';\nif (hasRequiredNode()) console.log('ran', process.argv[2]);\n",
);
// Node 20 is not installed everywhere, but the guard checks only the version.
writeFileSync(join(root, 'old.cjs'), "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });");

function run(execArgs: readonly string[] = []) {
  const args = [...execArgs, join(root, 'bin/command.mjs'), 'it'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

describe('the guard of the Node version', () => {
  it('rejects an older Node with one sentence that names both versions', async () => {
    const { code, out, err } = run(['--require', join(root, 'old.cjs')]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^Spillway needs Node 24 or newer, and this is Node 20\.20\.2\. .*npm start.*\n$/);
  });

  it.skipIf(process.platform === 'win32')(
    'restarts in the pinned Node, with the same arguments and exit code',
    async () => {
      mkdirSync(pinned, { recursive: true });
      onTestFinished(() => rmSync(pinned, { recursive: true }));
      const file = join(pinned, 'node');
      writeFileSync(file, '#!/bin/sh\nfor last; do :; done\necho "pinned $last"\nexit 3\n');
      chmodSync(file, 0o755);
      expect(run(['--require', join(root, 'old.cjs')])).toEqual({ code: 3, out: 'pinned it\n', err: '' });
    },
  );

  it('can be parsed by Node 14', async () => {
    const source = readFileSync(guard, 'utf8');
    const options = { loader: 'js', format: 'esm' } as const;
    const [asIs, lowered] = [
      await transform(source, options),
      await transform(source, { ...options, target: 'node14' }),
    ];
    expect(lowered.code).toBe(asIs.code);
    expect(source).not.toMatch(/from 'node:/);
  });
});
