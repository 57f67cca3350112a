import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { runCommand } = await import('./run-command.mjs');
  await runCommand('doctor');
}
