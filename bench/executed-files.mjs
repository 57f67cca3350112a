import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { serve } from './served.mjs';

// Lists the files of `src` in which one warm request executes a function, using V8's precise coverage and the source
// maps of the build:
//
//   node bench/executed-files.mjs [path ...]        default: the cards page, a failing loader and an API response

const root = fileURLToPath(new URL('..', import.meta.url));
const paths = process.argv.length > 2 ? process.argv.slice(2) : ['/tour/cards', '/tour/fail/loader', '/api/ping'];

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
      .map(({ url, functions }) => ({ url, starts: functions.flatMap(({ functionName, ranges: [range] }) =>
        range.count > 0 ? [{ name: functionName, start: range.startOffset }] : []) })));
  });
  process.channel?.unref();`;

const server = await serve({
  env: { TOUR_FAILURES: 'on' },
  nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(probe)}`],
});
for (const path of paths) {
  for (let time = 0; time < 20; time++) await get(path);
  await settle();
  await takeCoverage();
  await get(path);
  await settle();
  const files = toFiles(await takeCoverage());
  console.log(`${path}: ${files.size} files`);
  for (const [file, names] of [...files].sort()) console.log(`  ${file}  ${[...names].join(' ')}`);
}
process.exit();

async function get(path) {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  await response.text();
}

/** The journal is written in the next turns of the event loop. */
function settle() {
  return new Promise((resolve) => setTimeout(resolve, 300));
}

function takeCoverage() {
  return new Promise((resolve) => {
    server.child.once('message', resolve);
    server.child.send('take');
  });
}

/** @returns {Map<string, Set<string>>} the names of the functions that ran, by file */
function toFiles(scripts) {
  const files = new Map();
  for (const { url, starts } of scripts) {
    const script = fileURLToPath(url);
    const lines = toLineStarts(readFileSync(script, 'utf8'));
    const map = new TraceMap(readFileSync(toMapFile(script), 'utf8'));
    for (const { name, start } of starts) {
      if (start === 0) continue; // the whole script
      const line = lines.findLastIndex((at) => at <= start);
      const { source } = originalPositionFor(map, { line: line + 1, column: start - lines[line] });
      const file = source && join('dist/maps/server', source);
      if (!file?.startsWith('src/')) continue;
      if (!files.has(file)) files.set(file, new Set());
      files.get(file).add(name || '(anonymous)');
    }
  }
  return files;
}

function toMapFile(script) {
  return join(root, 'dist/maps/server', `${relative(join(root, 'dist/server'), script)}.map`);
}

function toLineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
