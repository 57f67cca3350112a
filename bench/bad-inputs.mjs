import './required-node.mjs';
import { get } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build, stopBuilder } from '../build.mjs';
import { HIDDEN_PATH } from '../tests/support/bad-inputs/framing.ts';
import { listBadInputs } from '../tests/support/bad-inputs/list-bad-inputs.ts';
import { createRandom } from '../tests/support/bad-inputs/random.ts';
import { tryBadInputs } from '../tests/support/bad-inputs/try-bad-inputs.ts';
import { judge, serve, TOKEN } from './served.mjs';

/**
 * Sends malformed and hostile input: `node bench/bad-inputs.mjs`. Several thousand requests to all endpoints of the built
 * server: broken HTTP, unusual URLs, bodies, reports and texts. MUTANTS (2,000) of them are random, and the same for the
 * same SEED (1). The server must give the expected response to each.
 */
const seed = Number(process.env.SEED ?? 1);
const mutants = Number(process.env.MUTANTS ?? 2000);
const host = 'site.example';
/** Parts of the server's settings and of request headers. They must not appear in any output. */
const secrets = ['canary-of-the-environment', 'canary-of-a-visitor', TOKEN];
const root = fileURLToPath(new URL('..', import.meta.url));

await build({ log: console.error });
await stopBuilder();
const server = await serve({
  env: {
    PUBLIC_ORIGINS: `https://${host}`,
    OVERLOAD_DELAY: '0', // otherwise some requests would get 503
    TRUST_PROXY: '1',
    LOG_LEVEL: 'debug',
    SECRET_KEY: secrets[0],
  },
});
let log = '';
server.child.stdout.on('data', (text) => {
  log += text;
});
let exits = 0;
server.child.on('exit', () => {
  exits++;
});

const doors = {
  host,
  page: '/',
  kept: '/tour/static',
  item: '/tour/layout/',
  form: '/tour/forms',
  action: 'root.subscribe',
  api: '/api/tour/todos',
  asset: await findAsset(),
  dsn: `https://spillway@${host}/1`,
  token: TOKEN,
};
// Shuffled and from many addresses, so that no rate limit refuses them unread.
const inputs = shuffle(listBadInputs(doors, { seed, mutants })).map(comeFrom);
const began = performance.now();
const tried = await tryBadInputs(inputs, {
  port: server.port,
  secrets: [...secrets, root],
  concurrency: 16,
});
const seconds = (performance.now() - began) / 1000;
const after = await ask('/');
await new Promise((resolve) => setTimeout(resolve, 500)); // the log is written a moment later

const lines = log.split('\n').filter((line) => line !== '');
const broken = lines.filter((line) => !isJson(line));
const known = lines.filter(isJson).map((line) => JSON.parse(line));
const failures = known.filter(({ level }) => level >= 50);
const leaked = lines.filter((line) => secrets.some((secret) => line.includes(secret)));
const hidden = known.filter(({ path }) => path === HIDDEN_PATH);
for (const fault of tried.faults.slice(0, 40)) console.error(fault);
for (const line of [...broken, ...leaked, ...failures.map((failure) => JSON.stringify(failure))].slice(0, 20))
  console.error(line);
console.log(
  `${tried.sent} inputs in ${seconds.toFixed(1)} s, ${tried.replies} responses: ${JSON.stringify(tried.statuses)}; ${lines.length} log lines; seed ${seed}`,
);
judge([
  { what: 'inputs', demand: '≥ 2000', seen: tried.sent, isMet: tried.sent >= 2000 },
  { what: 'process exits', demand: 0, seen: exits, isMet: exits === 0 },
  {
    what: 'unexpected responses',
    demand: 0,
    seen: tried.faults.length,
    isMet: tried.faults.length === 0,
  },
  { what: 'failures in the log', demand: 0, seen: failures.length, isMet: failures.length === 0 },
  { what: 'log lines that are not JSON', demand: 0, seen: broken.length, isMet: broken.length === 0 },
  { what: 'log lines with a secret', demand: 0, seen: leaked.length, isMet: leaked.length === 0 },
  { what: 'smuggled requests', demand: 0, seen: hidden.length, isMet: hidden.length === 0 },
  { what: 'status of a page at the end', demand: 200, seen: after.status, isMet: after.status === 200 },
]);

function shuffle(list) {
  const random = createRandom(seed);
  return list
    .map((value) => ({ value, at: random() }))
    .sort((left, right) => left.at - right.at)
    .map(({ value }) => value);
}

function comeFrom(input, index) {
  const text = input.bytes.toString('latin1');
  const own = [`X-Forwarded-For: 10.0.${index >> 8}.${index & 255}`, `X-Api-Key: ${secrets[1]}`];
  if (!/^cookie:/im.test(text)) own.push(`Cookie: session=${secrets[1]}`);
  const isSound = text.includes(`\r\nHost: ${host}\r\n`) && !/x-forwarded-for/i.test(text) && input.door !== 'frame';
  return isSound
    ? { ...input, bytes: Buffer.from(text.replace('\r\n', `\r\n${own.join('\r\n')}\r\n`), 'latin1') }
    : input;
}

/** Uses `get()` because `fetch` does not allow a custom `Host` header. */
function ask(path) {
  return new Promise((resolve, reject) => {
    get({ port: server.port, path, headers: { Host: host }, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
    }).on('error', reject);
  });
}

async function findAsset() {
  return /\/assets\/[\w-]+\.js/.exec((await ask('/')).text)?.[0] ?? '/robots.txt';
}

function isJson(line) {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}
