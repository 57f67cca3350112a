import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { createFolder } from '../../support/folder.ts';
import { parseReply } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

const toPath = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const folder = createFolder(afterAll);
const SCRIPT = join(folder, 'drain-server.mjs');
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const follow = 'GET /endless HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n';

type Whole = Promise<ReturnType<typeof parseReply> & { readonly text: string }>;

// A bundle starts with half the CPU time of its sources.
beforeAll(async () => {
  symlinkSync(toPath('../../../node_modules'), join(folder, 'node_modules'));
  const entryPoints = [toPath('./drain-server.ts')];
  await esbuild.build({
    entryPoints,
    outfile: SCRIPT,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
});

async function run({ onTestFinished }: TestContext, { lag = 0, deadline = 20_000, hangs = false } = {}) {
  const args = [SCRIPT, String(lag), String(deadline), ...(hangs ? ['hangs'] : [])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'close'); // with all of its output
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const findPort = () => Number(/Listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1] ?? 0);
  await until(() => findPort() > 0, 'the server');

  /** Opens a connection and sends these bytes. `whole` resolves with everything received until it ends. */
  async function send(bytes: string): Promise<{ socket: Socket; whole: Whole }> {
    const socket = connect(findPort(), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    const whole = once(socket, 'close').then(() => {
      const text = Buffer.concat(chunks).toString('latin1');
      return { ...parseReply(text), text };
    });
    await once(socket, 'connect');
    socket.write(bytes);
    return { socket, whole };
  }

  const ask = async (path: string) =>
    (await send(get(path).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))).whole;

  /** Sends bytes, and waits until the server has read them: it has then answered a later connection. */
  async function open(bytes: string): Promise<{ socket: Socket; whole: Whole }> {
    const opened = await send(bytes);
    await ask('/livez');
    return opened;
  }

  return {
    child,
    send,
    open,
    findPort,
    ask,
    output: () => output,
    stop: () => child.kill('SIGTERM'),
    isStopping: () => until(() => output.includes('SIGTERM'), 'the stop to begin'),
    /** Resolves with the exit code and the time since this call. */
    async ended() {
      const before = performance.now();
      const [code, signal] = await exit;
      return { code, signal, ms: performance.now() - before };
    },
  };
}

// Concurrent, because each test mostly waits.
describe.concurrent('a stop', () => {
  it('lets pages and streamed answers in flight finish, also server-sent events and lines, and exits with 0', async (context) => {
    const { open, stop, ended, output } = await run(context);
    const post = 'POST /answer HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nContent-Length: 0\r\n\r\n';
    const asked = [await open(post), await open(get('/answer')), await open(get('/api/answer'))];
    const slow = await open(get('/slow'));
    stop();
    for (const { whole } of asked) expect((await whole).text).toMatch(/first[\s\S]*last"?\n?\r\n0\r\n\r\n$/);
    expect(await slow.whole).toMatchObject({ status: 200, body: 'slow and whole', headers: { connection: 'close' } });
    expect(await ended()).toMatchObject({ code: 0, signal: null });
    expect(output()).not.toContain('Connections were cut');
  });

  it.for([
    ['is streamed', '/endless', /"path":"\/endless",.*"cut":true,"msg":"request"/],
    ['has not begun', '/never', /"path":"\/never",.*"status":503,.*"cut":true,"msg":"request"/],
  ] as const)(
    'cuts a response that %s at the deadline, logs that, and exits with 1',
    async ([, path, line], context) => {
      const { open, stop, ended, output } = await run(context, { deadline: 500 });
      const { whole } = await open(get(path));
      stop();
      expect((await whole).text).not.toContain('\r\n0\r\n\r\n');
      expect((await ended()).code).toBe(1);
      expect(output()).toMatch(line);
      expect(output()).toMatch(/"cut":1,"owed":1.*The deadline \(DRAIN_DEADLINE\) passed/);
    },
  );

  it('ends server-sent events, also of a request during the stop', async (context) => {
    const { open, stop, isStopping, ended, output } = await run(context, { deadline: 30_000 });
    const early = await open(follow);
    const { socket, whole } = await open('');
    stop();
    await isStopping();
    socket.write(follow);
    for (const { text } of [await early.whole, await whole]) expect(text).toMatch(/event\r\n0\r\n\r\n$/);
    expect((await ended()).code).toBe(0);
    expect(output()).not.toContain('Connections were cut');
  });

  it('cuts lines that wait for their signal, which is no failure', async (context) => {
    const { open, stop, ended, output } = await run(context, { deadline: 30_000 });
    const { whole } = await open(get('/api/feed'));
    stop();
    expect((await whole).text).toMatch(/"event"\n\r\n$/); // without the end of the chunks
    expect((await ended()).code).toBe(0);
    expect(output()).not.toMatch(/Connections were cut|"digest"/);
  });

  it.for([
    ['accepted before the stop', '/livez', 100, 'ok\n'],
    ['can only hand over slowly', '/busy', 30, 'done'],
  ] as const)('answers connections that the kernel %s', async ([, path, count, body], context) => {
    const { open, send, stop, ended } = await run(context);
    await open(get('/stand-still'));
    await sleep(60); // until its event loop is blocked
    const asked = await Promise.all(Array.from({ length: count }, () => send(get(path))));
    stop();
    const replies = await Promise.all(asked.map(({ whole }) => whole));
    expect(replies.filter((reply) => reply.status !== 200 || reply.body !== body)).toEqual([]);
    expect((await ended()).code).toBe(0);
  });

  it('notifies the proxy first, and closes each connection after its response', async (context) => {
    const { open, ask, stop, isStopping, ended } = await run(context, { lag: 2000 });
    expect((await ask('/readyz')).status).toBe(200);
    stop();
    await isStopping();
    const [ready, page] = [await open(get('/readyz')), await open(get('/'))];
    expect(await ready.whole).toMatchObject({ status: 503, body: '{"status":"draining"}' });
    expect(await page.whole).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect((await ask('/livez')).status).toBe(200);
    expect((await ended()).code).toBe(0);
  });

  it('does not wait for idle, silent and half-sent connections', async (context) => {
    const { open, stop, ended } = await run(context, { deadline: 30_000 });
    for (const bytes of ['', 'GET / HTTP/1.1\r\nHost: loc', get('/')]) await open(bytes);
    stop();
    const { code, ms } = await ended();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(15_000);
  });

  it('closes connections that still wait for a slow peer at the deadline, and exits with 0', async (context) => {
    const { open, stop, ended, output, findPort } = await run(context, { deadline: 500 });
    const reader = connect(findPort(), '127.0.0.1');
    reader.on('error', () => undefined);
    reader.write(get('/big'));
    await once(reader, 'readable'); // and nothing reads on
    const type = 'Content-Type: application/json\r\nContent-Length: 9';
    await open(`POST /api/echo HTTP/1.1\r\nHost: a\r\n${type}\r\n\r\n{`);
    stop();
    const { code, ms } = await ended();
    expect(code).toBe(0);
    expect(ms).toBeGreaterThan(400);
    expect(output()).toContain('"cut":2');
  });

  it('exits with 1 and logs it if the work after the last response takes too long', async (context) => {
    const { stop, ended, output } = await run(context, { deadline: 500, hangs: true });
    stop();
    expect(await ended()).toMatchObject({ code: 1, signal: null });
    expect(output()).toContain('did not stop in time');
  });

  it('delivers every byte of a response that was ended but not flushed', async (context) => {
    const { stop, ended, findPort } = await run(context, { deadline: 8000 });
    const socket = connect(findPort(), '127.0.0.1');
    let received = 0;
    socket.write(get('/big'));
    await once(socket, 'readable');
    await sleep(200);
    stop();
    await sleep(300);
    const done = once(socket, 'close');
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    await done;
    expect(received).toBeGreaterThan(20_000_000);
    expect((await ended()).code).toBe(0);
  });

  it('takes signals that arrive together for one, because npm passes on those of a terminal', async (context) => {
    const { open, child, ended } = await run(context);
    const slow = await open(get('/slow'));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT'] as const) child.kill(signal);
    expect((await ended()).code).toBe(0);
    expect((await slow.whole).status).toBe(200);
  });

  it('exits immediately with another code on a later signal', async (context) => {
    const { stop, isStopping, ended } = await run(context, { lag: 30_000, deadline: 5000 });
    stop();
    await isStopping();
    const again = setInterval(stop, 100);
    const { code, ms } = await ended();
    clearInterval(again);
    expect(code).toBe(1);
    expect(ms).toBeLessThan(15_000);
  });
});

describe.concurrent('a process-level error', () => {
  it('does not end the process if a request caused the rejection', async (context) => {
    const { ask, output } = await run(context);
    expect((await ask('/reject')).status).toBe(200);
    await context.expect
      .poll(output)
      .toMatch(/"digest":"[0-9A-Z]{8}".*"origin":"request".*"method":"GET","url":"\/reject"/);
    expect((await ask('/livez')).status).toBe(200);
    // As in a guard that forgot `await`.
    await ask('/unawaited');
    await context.expect
      .poll(output)
      .toContain('A \\"forbidden\\" response was thrown in a promise that nothing awaited');
  });

  it('ends the process with 1 if it was thrown outside a request, after requests in flight have finished', async (context) => {
    const { open, ask, ended, output } = await run(context);
    const slow = await open(get('/slow'));
    expect((await ask('/throw-outside')).body).toContain('answered');
    expect((await ended()).code).toBe(1);
    expect((await slow.whole).body).toBe('slow and whole');
    expect(output()).toContain('"kind":"server-exit","origin":"process"');
  });

  it('answers the request whose code threw it before it answered, instead of waiting for that', async (context) => {
    const { ask, ended, output } = await run(context, { deadline: 60_000 });
    const { status, text } = await ask('/throw-before');
    const [, address] = /^x-error-digest: (.+)\r$/im.exec(text) ?? [];
    expect([status, address, text.split(`${address}`).length]).toEqual([
      500,
      expect.stringMatching(/^\w{8}-\w{8}$/),
      3,
    ]);
    expect((await ended()).code).toBe(1);
    expect(output().match(/"occurrence":/g)).toHaveLength(1);
  });
});
