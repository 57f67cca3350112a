import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { own } = await import('./own/own.mjs');
  await own(process.argv.slice(2));
}
