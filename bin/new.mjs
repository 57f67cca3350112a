import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { createNew } = await import('./new/new.mjs');
  createNew(process.argv.slice(2));
}
