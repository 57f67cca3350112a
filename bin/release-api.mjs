import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { hasRequiredNode } from './require-node.mjs';

// `npm run release:api` writes the API's document to src/shared/product/api/released.json. Vitest loads the product,
// because Node cannot load its TSX files.

if (hasRequiredNode()) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--project=unit', 'tests/released-api.test.ts'],
    { cwd: root, stdio: 'inherit', env: { ...process.env, SPILLWAY_RELEASE_API: '1' } },
  );
  if (status === 0) console.log('\nWrote src/shared/product/api/released.json. Commit it.');
  process.exitCode = status ?? 1;
}
