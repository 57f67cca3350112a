import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  const { serve } = await import('./serve.mjs');
  await serve();
}
