import './required-node.mjs';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { faults } from './failing-tests/faults.mjs';
import { copyProject, writeProduct } from './failing-tests/write-product.mjs';

/**
 * Shows which failures become tests: builds a product with many faults, provokes each as a visitor does, and has its
 * test written from its address. Each test must fail with the same digest. Then it takes the faults out, and each test
 * must pass. `--only table,deep` runs these faults. `--keep` leaves the folder.
 */
const { values } = parseArgs({ options: { only: { type: 'string' }, keep: { type: 'boolean' } } });
const only = values.only?.split(',');
const chosen = faults.filter(({ id }) => !only || only.includes(id));

const folder = copyProject();
process.on('exit', () => values.keep || rmSync(folder, { recursive: true, force: true }));
const dataDir = join(folder, 'data');
// Other servers: one works badly in production and does not exist in tests, and one can never be reached.
const other = createServer((req, res) => {
  if (req.url?.startsWith('/rates')) res.setHeader('content-type', 'application/json').end('{"error":"no"}');
  else res.writeHead(503).end();
});
const closed = createServer();
const [otherServer, closedServer] = await Promise.all([other, closed].map(listen));
closed.close();
const env = { ...process.env, NODE_ENV: 'production', DATA_DIR: dataDir };

writeProduct(folder, { isBroken: true, otherServer, closedServer });
build();
const results = await provokeAll();
other.close();
for (const result of results) if (result.address) writeTest(result);
runTests('broken');
writeProduct(folder, { isBroken: false, otherServer, closedServer });
build();
runTests('fixed');
report();

async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${server.address().port}`;
}

function build() {
  run('node', ['build.mjs']);
}

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command === 'node' ? process.execPath : command, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`${args.join(' ')} failed:\n${stdout}\n${stderr}`);
  return { stdout, stderr };
}

/** Starts the server as in production. @returns its URL, and a function that waits for a line of its log */
async function start(more) {
  const child = spawn(process.execPath, [join(folder, 'dist/server/main.js')], {
    cwd: folder,
    env: { ...env, HOST: '127.0.0.1', PORT: '0', DRAIN_LAG: '0', OVERLOAD_DELAY: '0', ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = [];
  let [rest, take] = ['', () => undefined];
  child.stdout.on('data', (chunk) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop();
    lines.push(...parts.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)));
    take();
  });
  async function find(isWanted) {
    for (;;) {
      const line = lines.find(isWanted);
      if (line) return line;
      await new Promise((resolve) => {
        take = resolve;
      });
    }
  }
  const { msg } = await find((line) => line.msg?.startsWith('Listening on'));
  return { child, lines, find, url: msg.replace('Listening on ', '') };
}

function isFailure({ msg, digest }) {
  return msg === 'A request failed.' && digest !== undefined;
}
function toAddress(line) {
  return line && `${line.digest}-${line.occurrence}`;
}

/** Provokes each fault, and finds its address in the log or in the response to the browser's report. */
async function provokeAll() {
  const { child, lines, find, url } = await start({ ANSWER: '1' });
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch(await chromiumOptions());
  const results = [];
  for (const fault of chosen) {
    const { url: path = `/${fault.id}`, init, steps, context } = fault.provoke;
    let address;
    if (fault.id === 'job') continue;
    if (steps) {
      address = await provokeInBrowser(browser, url, path, steps, context);
    } else {
      const before = new Set(lines);
      const headers = { accept: 'text/html', 'user-agent': 'Mozilla/5.0 Firefox/140.0', ...init?.headers };
      await (await fetch(url + path, { ...init, headers })).text();
      address = toAddress(await Promise.race([find((line) => isFailure(line) && !before.has(line)), wait(5000)]));
    }
    results.push({ fault, address });
  }
  await browser.close();
  child.kill('SIGTERM');
  await once(child, 'exit');
  const job = chosen.find(({ id }) => id === 'job');
  if (job) {
    // An error outside of any request ends the process.
    const other = await start({ RUN_JOB: '1' });
    results.push({ fault: job, address: toAddress(await other.find(isFailure)) });
    if (other.child.exitCode === null) await once(other.child, 'exit');
  }
  return results;
}

async function chromiumOptions() {
  const { default: packed } = await import('@sparticuz/chromium');
  const executablePath = process.env.CHROMIUM_PATH ?? (await packed.executablePath());
  return { executablePath, args: ['--no-sandbox', '--disable-gpu', '--in-process-gpu'] };
}

/** @returns the address, from the response to the browser's report */
async function provokeInBrowser(browser, url, path, steps, options) {
  const context = await browser.newContext({ baseURL: url, userAgent: 'Mozilla/5.0 Chrome/150.0.0.0', ...options });
  const page = await context.newPage();
  const answered = page
    .waitForResponse((response) => new URL(response.url()).pathname === '/_report', { timeout: 15_000 })
    .then(
      (response) => response.json(),
      () => undefined,
    );
  await page.goto(path);
  // The page is idle, so its reports have breadcrumbs.
  await page.waitForFunction(() => history.scrollRestoration === 'manual');
  await page.waitForLoadState('networkidle');
  await steps(page);
  const answer = await answered;
  await context.close();
  // A request id, trace id or event id leads to the occurrence too; the digest alone to the latest one.
  return answer?.digest;
}

function writeTest(result) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['dist/desk.mjs', result.address, '--test', '--force'],
    { cwd: folder, env, encoding: 'utf8' },
  );
  result.digest = result.address.slice(0, 8);
  result.note = stderr.trim();
  if (status === 0) result.file = stdout.trim();
}

function runTests(name) {
  const json = join(folder, `${name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${json}`];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--project=unit', 'tests/product/failures', ...reporters],
    { cwd: folder, env: { ...process.env, NO_COLOR: '1' }, encoding: 'utf8', maxBuffer: 1 << 28 },
  );
  if (!existsSync(json)) throw new Error(`The ${name} tests did not run:\n${stdout}${stderr}`);
  if (values.keep) writeFileSync(join(folder, `${name}.txt`), stdout + stderr);
  const { testResults } = JSON.parse(readFileSync(json, 'utf8'));
  for (const result of results) {
    const [test] = testResults.find(({ name: file }) => file.endsWith(`${result.file}`))?.assertionResults ?? [];
    // The difference that a failed test prints has each failure as its digest and title.
    result[name] = { passed: test?.status === 'passed', hasDigest: stderr.includes(`+   "${result.digest} `) };
  }
}

function report() {
  const rows = results.map(({ fault, digest = '–', file, note = '', broken, fixed }) => {
    const fails = broken.hasDigest && !broken.passed;
    const verdict = fails && fixed.passed ? 'yes' : 'no';
    return {
      id: fault.id,
      what: fault.what,
      digest,
      fails,
      passes: fixed.passed,
      verdict,
      note: file ? note : note || 'no address',
    };
  });
  console.log(
    '| fault | digest | fails with it | passes without the fault | missing |\n| --- | --- | --- | --- | --- |',
  );
  for (const { what, digest, fails, passes, note } of rows) {
    console.log(
      `| ${what} | ${digest} | ${fails ? 'yes' : 'no'} | ${passes ? 'yes' : 'no'} | ${note.replaceAll('\n', ' ')} |`,
    );
  }
  const good = rows.filter(({ verdict }) => verdict === 'yes').length;
  console.log(`\n${good} of ${rows.length} become tests that fail with the digest and pass without the fault.`);
  if (values.keep) console.log(folder);
}
