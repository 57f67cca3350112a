import { startDevelopment } from '#engine/client';

// The first script of a desk page under `npm run dev`. Production builds do not contain it.

await startDevelopment('other');
await import('./main.tsx');
