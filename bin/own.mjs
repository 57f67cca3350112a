import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { runCommand } = await import('./command.mjs');
  const { own } = await import('./own/own.mjs');
  await runCommand(own);
}
