// The first script of a page of the desk under `npm run dev`; no production build has it.
import { startDevelopment } from '../engine/develop/development.ts';

await startDevelopment('desk');
await import('./main.tsx');
