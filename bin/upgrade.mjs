import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { upgrade } = await import('./upgrade/upgrade.mjs');
  process.exitCode = upgrade(process.argv.slice(2), process.cwd());
}
