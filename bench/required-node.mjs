import { hasRequiredNode } from '../bin/require-node.mjs';

// The same command goes on in the pinned Node, and this process ends with it: nothing may run here meanwhile.
if (!hasRequiredNode()) await new Promise(() => {});
