import { hasRequiredNode } from '../bin/require-node.mjs';

// The command continues in the pinned Node, and this process exits with it. Until then, it must do nothing.
if (!hasRequiredNode()) await new Promise(() => {});
