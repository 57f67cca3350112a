import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { runCommand, tellSources } = await import('./run-command.mjs');
  tellSources();
  await runCommand('doctor');
}
