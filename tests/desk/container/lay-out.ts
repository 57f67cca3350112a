import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ImageConfig, project } from './dockerfile.ts';

export type Image = ReturnType<typeof layOut>;

/** Folders that a runtime mounts into every container. They are not part of the image. */
export const MOUNTED = ['proc', 'sys', 'dev'];

/**
 * Creates the root folder of an image. Follows the Dockerfile, with the built project instead of the build stage. Files that this stage creates outside
 * `/app` are created by its own commands.
 */
export function layOut(config: ImageConfig) {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-image-'));
  const made = join(folder, 'made');
  const root = join(folder, 'root');
  mkdirSync(made);
  mkdirSync(join(made, 'empty'));
  const command = config.runs.map((line) => /npm run image -- (\/\w+)/.exec(line)?.[1]).find(Boolean);
  if (!command) throw new Error('The stage that builds does not run "npm run image".');
  execFileSync('npm', ['run', '-s', 'image', '--', join(made, command)], { cwd: project, stdio: 'pipe' });

  mkdirSync(join(root, config.workdir), { recursive: true });
  for (const { sources, to, owner } of config.copies) {
    for (const source of sources) {
      const from = source.startsWith('/app/') ? join(project, source.slice('/app/'.length)) : join(made, source);
      const target = join(root, resolve(config.workdir, to));
      cpSync(
        from,
        to.endsWith('/') && statSync(from).isFile()
          ? join(target, resolve('/', source).split('/').at(-1) ?? '')
          : target,
        {
          recursive: true,
        },
      );
      // Without root, no test runs the image.
      if (owner > 0 && process.getuid?.() === 0) chownSync(target, owner, owner);
    }
  }
  for (const name of MOUNTED) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
  for (const path of [folder, root]) chmodSync(path, 0o755);
  return { root, config, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
