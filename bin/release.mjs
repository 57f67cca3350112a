import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { release } = await import('./upgrade/release.mjs');
  process.exitCode = release(process.argv.slice(2), process.cwd());
}
