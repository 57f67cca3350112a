import { existsSync } from 'node:fs';
import { hasRequiredNode } from './require-node.mjs';

const command = new URL('../dist/server/desk.js', import.meta.url);

if (!existsSync(new URL('../src/desk', import.meta.url))) {
  console.error('This app has no desk: src/desk was deleted.');
  process.exitCode = 1;
} else if (hasRequiredNode()) {
  const { useEnvFile } = await import('./env-file.mjs');
  useEnvFile({ silent: true });
  // Builds only if it must, and not again for changes: that would replace the files of a running server.
  if (!existsSync(command)) {
    const { build, stopBuilder } = await import('../build.mjs');
    await build({ log: console.error });
    await stopBuilder();
  }
  await import(command.href);
}
