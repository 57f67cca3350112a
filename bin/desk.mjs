import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { runDesk } = await import('./run-desk.mjs');
  await runDesk();
}
