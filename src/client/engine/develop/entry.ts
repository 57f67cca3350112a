// The first script of a page under `npm run dev`; no production build has it.
import { startDevelopment } from './development.ts';

await startDevelopment();
// React looks for the hook of Fast Refresh as it is evaluated, so that must have happened before.
await import('./refresh-hook.ts');
await import('../../main.tsx');
