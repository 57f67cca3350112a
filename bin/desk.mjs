import { existsSync } from 'node:fs';
import { hasRequiredNode } from './require-node.mjs';

if (!existsSync(new URL('../src/desk', import.meta.url))) {
  console.error('This app has no desk: src/desk was deleted.');
  process.exitCode = 1;
} else if (hasRequiredNode()) {
  const { runCommand } = await import('./run-command.mjs');
  await runCommand('desk');
}
