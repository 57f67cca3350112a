import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { develop } = await import('./develop.mjs');
  await develop();
}
