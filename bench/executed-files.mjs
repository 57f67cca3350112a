import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { root, start } from './servers.mjs';

// Lists the files of `src` in which one warm request executes a function, using V8's precise coverage and the source
// maps of the build:
//
//   node bench/executed-files.mjs [path ...]        default: the cards page, a failing loader and an API response

const paths = process.argv.length > 2 ? process.argv.slice(2) : ['/tour/cards', '/tour/fail/loader', '/api/tour/todos'];

/** Runs in the server: records which of its functions run on the main thread between two messages. */
const probe = `
  import { Session } from 'node:inspector/promises';
  const session = new Session();
  session.connect();
  const started = session.post('Profiler.enable').then(() =>
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false }));
  process.on('message', async () => {
    await started;
    const { result } = await session.post('Profiler.takePreciseCoverage');
    process.send(result
      .filter(({ url }) => url.includes('/dist/server/'))
      .map(({ url, functions }) => ({ url, starts: functions.flatMap(({ ranges: [range] }) =>
        range.count > 0 ? [range.startOffset] : []) })));
  });
  process.channel?.unref();`;

const server = await start({ env: { TOUR_FAILURES: 'on', LOG_LEVEL: 'error' }, probe });
for (const path of paths) {
  for (let time = 0; time < 20; time += 1) await get(path);
  await server.ask();
  await get(path);
  const files = toFiles(await server.ask());
  console.log(`${path}: ${files.size} files`);
  for (const file of [...files].sort()) console.log(`  ${file}`);
}
process.exit();

/** Waits after the response, because the journal is written in the next turns of the event loop. */
async function get(path) {
  await (await fetch(`http://127.0.0.1:${server.port}${path}`)).text();
  await sleep(300);
}

/** @returns {Set<string>} the files whose functions ran */
function toFiles(scripts) {
  const files = new Set();
  for (const { url, starts } of scripts) {
    const script = fileURLToPath(url);
    const text = readFileSync(script, 'utf8');
    const maps = join(root, 'dist/maps/server');
    const map = new TraceMap(readFileSync(join(maps, `${relative(join(root, 'dist/server'), script)}.map`), 'utf8'));
    for (const start of starts) {
      if (start === 0) continue; // the whole script
      const lines = text.slice(0, start).split('\n');
      const { source } = originalPositionFor(map, { line: lines.length, column: lines.at(-1).length });
      const file = source && relative(root, join(maps, source));
      if (file?.startsWith('src/')) files.add(file);
    }
  }
  return files;
}
