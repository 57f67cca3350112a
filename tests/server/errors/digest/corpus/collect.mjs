// Runs the corpus in every engine and writes the stacks: `node tests/server/errors/digest/corpus/collect.mjs`.
// It needs `firefox-esr` and `jsc` (Debian: `apt-get install firefox-esr libjavascriptcoregtk-4.0-bin`).

import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { launchBrowser } from '../../../../../support/browser.ts';
import { bundle, kinds, root } from './bundle.mjs';

const run = promisify(execFile);
/** Replaces the real location of the builds in the stacks. */
const origin = 'https://shop.example';
const folder = '/app/dist';

const runners = { node: runNode, chromium: runChromium, firefox: runFirefox, jsc: runJsc };

const maps = {};
const stacks = [];
for (const release of [1, 2]) {
  for (const [kind, { engines }] of Object.entries(kinds)) {
    const files = await bundle(kind, release);
    maps[`${kind} ${release}`] = toMaps(files);
    for (const engine of engines) {
      const found = await runners[engine](files);
      stacks.push({ engine, kind, release, found });
      console.error(
        engine,
        kind,
        release,
        found.length,
        found.filter(({ errors }) => errors[0].class === 'Missing'),
      );
    }
  }
}
const out = join(root, 'collected');
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'maps.json'), `${JSON.stringify(maps)}\n`);
writeFileSync(join(out, 'stacks.json'), toCompact(stacks));

/** Omits the sources, which are in the corpus. */
function toMaps(files) {
  return files
    .filter(({ path }) => path.endsWith('.map'))
    .map(({ path, text }) => {
      const { sources, mappings } = JSON.parse(text);
      return { path, sources, mappings };
    });
}

/** Writes one line per engine, build and bug, with only the stacks that differ between its values. */
function toCompact(all) {
  const lines = all.flatMap(({ engine, kind, release, found }) =>
    Object.entries(Object.groupBy(found, ({ id }) => id)).map(([id, times]) => {
      const different = new Set(times.map(({ errors }) => JSON.stringify(errors.map(toShort))));
      return `${JSON.stringify([engine, kind, release, id]).slice(0, -1)},[${[...different].join(',')}]]`;
    }),
  );
  return `[\n${lines.join(',\n')}\n]\n`;
}

/** Removes the frames of the corpus's runner, and repeated ones. */
function toShort({ stack, ...rest }) {
  const lines = stack.split('\n');
  const own = lines.findIndex((line) => /(?:at |^|\/)run[@ ]/.test(line)) + 1;
  return { ...rest, stack: lines.slice(0, own > 0 ? Math.min(own, 14) : 14).join('\n') };
}

function write(files) {
  const dist = mkdtempSync(join(tmpdir(), 'corpus-'));
  for (const { path, text } of files.filter(({ path }) => !path.endsWith('.map'))) {
    mkdirSync(join(dist, dirname(path)), { recursive: true });
    writeFileSync(join(dist, path), text);
  }
  writeFileSync(join(dist, 'package.json'), '{"type":"module"}');
  return dist;
}

function mainOf(files) {
  return files.find(({ path }) => /main(?:-\w+)?\.js$/.test(path)).path;
}

async function runNode(files) {
  const dist = write(files);
  const { stdout } = await run(process.execPath, [join(dist, mainOf(files))], { maxBuffer: 1e9 });
  rmSync(dist, { recursive: true });
  return JSON.parse(stdout.replaceAll(dist, folder));
}

async function runJsc(files) {
  const dist = write(files);
  const { stdout } = await run('jsc', ['-m', join(dist, mainOf(files))], { maxBuffer: 1e9 });
  rmSync(dist, { recursive: true });
  const line = stdout.split('\n').find((text) => text.startsWith('['));
  // Safari reports URLs instead of paths.
  return JSON.parse(line.replaceAll(`${dist}/client`, origin));
}

async function runChromium(files) {
  return serve(files, async (url) => {
    const browser = await launchBrowser();
    const page = await browser.newPage();
    await page.goto(url);
    return () => browser.close();
  });
}

async function runFirefox(files) {
  return serve(files, async (url) => {
    const profile = mkdtempSync(join(tmpdir(), 'firefox-'));
    const child = spawn('firefox-esr', ['--headless', '--no-remote', '--profile', profile, url], {
      stdio: 'ignore',
      env: { ...process.env, HOME: profile, MOZ_DISABLE_CONTENT_SANDBOX: '1' },
    });
    return () => {
      child.kill('SIGKILL');
      child.once('exit', () => rmSync(profile, { recursive: true, force: true, maxRetries: 5 }));
    };
  });
}

/** Serves the bundles to a browser, and returns what the page posts back. */
async function serve(files, open) {
  const served = new Map(files.map(({ path, text }) => [path.replace(/^client/, ''), text]));
  const { promise, resolve } = Promise.withResolvers();
  const server = createServer(async (req, res) => {
    if (req.method === 'POST') {
      let text = '';
      for await (const part of req) text += part;
      res.end();
      resolve(text);
      return;
    }
    const script = served.get(req.url);
    res.setHeader('Content-Type', script ? 'text/javascript' : 'text/html');
    res.end(
      script ?? `<!doctype html><script type="module" src="/${mainOf(files).replace(/^client\//, '')}"></script>`,
    );
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${server.address().port}`;
  const close = await open(`${url}/`);
  const text = await promise;
  await close();
  server.close();
  server.closeAllConnections();
  return JSON.parse(text.replaceAll(url, origin));
}
