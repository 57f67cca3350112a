import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { runCommand } = await import('./command.mjs');
  const { createNew } = await import('./new/new.mjs');
  await runCommand(createNew);
}
