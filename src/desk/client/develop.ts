// The first script of a desk page under `npm run dev`. Production builds do not contain it.
import { startDevelopment } from '../../client/develop/development.ts';

await startDevelopment('other');
await import('./main.tsx');
