// The first script of a page under `npm run dev`. Production builds do not contain it.
import { startDevelopment } from './development.ts';

await startDevelopment();
// React looks for the hook of Fast Refresh when it is evaluated, so the hook must be there first.
await import('./refresh-hook.ts');
await import('../main.tsx');
