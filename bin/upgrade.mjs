import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { runCommand } = await import('./command.mjs');
  const { upgrade } = await import('./upgrade/upgrade.mjs');
  await runCommand(upgrade);
}
