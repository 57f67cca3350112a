import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, type TestContext } from 'vitest';
import { type Drain, joinDrains } from '../../../../src/server/engine/connection/drain.ts';
import { askRaw, parseReply } from '../../../support/raw-http.ts';
import { until } from '../../../support/until.ts';

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
  readonly output: () => string;
  /** Resolves with the exit code and the time since this call. */
  ended(): Promise<{ code: number | null; signal: string | null; ms: number }>;
}

async function run(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  { lag = 0, deadline = 20_000, hangs = false } = {},
): Promise<Running> {
  const script = fileURLToPath(new URL('./drain-server.ts', import.meta.url));
  const child = spawn(process.execPath, [script, String(lag), String(deadline), ...(hangs ? ['hangs'] : [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exit = once(child, 'exit');
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  for (let port: string | undefined; ; await sleep(20)) {
    port = /Listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1];
    if (!port) continue;
    return {
      child,
      port: Number(port),
      output: () => output,
      async ended() {
        const before = performance.now();
        const [code, signal] = await exit;
        return { code, signal, ms: performance.now() - before };
      },
    };
  }
}

/** Opens a connection and sends these bytes. `whole` resolves with everything received until it ends. */
async function open(port: number, bytes: string): Promise<{ socket: Socket; whole: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  const whole = once(socket, 'close').then(() => Buffer.concat(chunks).toString('latin1'));
  await once(socket, 'connect');
  socket.write(bytes);
  await sleep(60);
  return { socket, whole };
}

function isStopping({ output }: Running): Promise<void> {
  return until(() => output().includes('SIGTERM'), 'the stop to begin');
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

// Concurrent, because each test mostly waits.
describe.concurrent('a stop', () => {
  it('lets pages and streams in flight finish, and exits with 0', async (context) => {
    const server = await run(context);
    const slow = await open(server.port, get('/slow'));
    const stream = await open(server.port, get('/stream'));
    server.child.kill('SIGTERM');
    expect(await server.ended()).toMatchObject({ code: 0, signal: null });
    const reply = parseReply(await slow.whole);
    expect(reply).toMatchObject({ status: 200, body: 'slow and whole' });
    expect(reply.headers.connection).toBe('close');
    expect(await stream.whole).toMatch(/first [\s\S]*last\r\n0\r\n\r\n$/);
    expect(server.output()).not.toContain('Connections were cut');
  });

  it('answers a request sent after the stop on a connection opened before it', async (context) => {
    const server = await run(context);
    const { socket, whole } = await open(server.port, '');
    server.child.kill('SIGTERM');
    await sleep(150);
    socket.write(get('/livez'));
    expect(parseReply(await whole)).toMatchObject({ status: 200, body: 'ok\n', headers: { connection: 'close' } });
    expect((await server.ended()).code).toBe(0);
  });

  it('answers connections that the kernel accepted before the stop', async (context) => {
    const server = await run(context);
    await open(server.port, get('/stand-still'));
    const asked = await Promise.all(Array.from({ length: 100 }, () => open(server.port, get('/livez'))));
    server.child.kill('SIGTERM');
    const statuses = (await Promise.all(asked.map(({ whole }) => whole))).map((whole) => parseReply(whole).status);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect((await server.ended()).code).toBe(0);
  });

  it('answers connections that it can only accept slowly', async (context) => {
    const server = await run(context);
    await open(server.port, get('/stand-still'));
    const asked = await Promise.all(Array.from({ length: 60 }, () => open(server.port, get('/busy'))));
    server.child.kill('SIGTERM');
    const bodies = (await Promise.all(asked.map(({ whole }) => whole))).map((whole) => parseReply(whole).body);
    expect(bodies.filter((body) => body !== 'done')).toEqual([]);
    expect((await server.ended()).code).toBe(0);
  });

  it('notifies the proxy first, and closes each connection after its response', async (context) => {
    const server = await run(context, { lag: 2000 });
    expect((await askRaw(server.port, 'GET /readyz HTTP/1.1')).status).toBe(200);
    server.child.kill('SIGTERM');
    await isStopping(server);
    const ready = await open(server.port, get('/readyz'));
    const page = await open(server.port, get('/'));
    expect(parseReply(await ready.whole)).toMatchObject({ status: 503, body: '{"status":"draining"}' });
    expect(parseReply(await page.whole)).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect((await askRaw(server.port, 'GET /livez HTTP/1.1')).status).toBe(200);
    expect((await server.ended()).code).toBe(0);
  });

  it('does not wait for idle, silent and half-sent connections', async (context) => {
    const server = await run(context, { deadline: 30_000 });
    await open(server.port, '');
    await open(server.port, 'GET / HTTP/1.1\r\nHost: loc');
    await open(server.port, get('/'));
    server.child.kill('SIGTERM');
    const { code, ms } = await server.ended();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(15_000);
  });

  it('closes connections that still wait for a slow peer at the deadline, and exits with 0', async (context) => {
    const server = await run(context, { deadline: 500 });
    const reader = connect(server.port, '127.0.0.1');
    reader.pause();
    reader.on('error', () => undefined);
    reader.write(get('/big'));
    await open(
      server.port,
      'POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    server.child.kill('SIGTERM');
    const { code, ms } = await server.ended();
    expect(code).toBe(0);
    expect(ms).toBeGreaterThan(400);
    expect(server.output()).toContain('"cut":2');
  });

  it('exits with 1 and logs it if it had to abort its own response', async (context) => {
    const server = await run(context, { deadline: 500 });
    await open(server.port, get('/never'));
    server.child.kill('SIGTERM');
    expect((await server.ended()).code).toBe(1);
    expect(server.output()).toMatch(/"cut":1,"owed":1.*The deadline \(DRAIN_DEADLINE\) passed/);
  });

  it('exits with 1 and logs it if the work after the last response takes too long', async (context) => {
    const server = await run(context, { deadline: 500, hangs: true });
    server.child.kill('SIGTERM');
    expect(await server.ended()).toMatchObject({ code: 1, signal: null });
    expect(server.output()).toContain('did not stop in time');
  });

  it('delivers every byte of a response that was ended but not flushed', async (context) => {
    const server = await run(context, { deadline: 8000 });
    const socket = connect(server.port, '127.0.0.1');
    let received = 0;
    socket.write(get('/big'));
    await once(socket, 'readable');
    await sleep(200);
    server.child.kill('SIGTERM');
    await sleep(300);
    const done = once(socket, 'close');
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    await done;
    expect(received).toBeGreaterThan(20_000_000);
    expect((await server.ended()).code).toBe(0);
  });

  it('takes signals that arrive together for one, because npm passes on those of a terminal', async (context) => {
    const server = await run(context);
    const slow = await open(server.port, get('/slow'));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT'] as const) server.child.kill(signal);
    expect((await server.ended()).code).toBe(0);
    expect(parseReply(await slow.whole).status).toBe(200);
  });

  it('exits immediately with another code on a later signal', async (context) => {
    const server = await run(context, { lag: 30_000, deadline: 5000 });
    server.child.kill('SIGTERM');
    await isStopping(server);
    const again = setInterval(() => server.child.kill('SIGTERM'), 100);
    const { code, ms } = await server.ended();
    clearInterval(again);
    expect(code).toBe(1);
    expect(ms).toBeLessThan(15_000);
  });
});

describe.concurrent('a process-level error', () => {
  it('does not end the process if a request caused the rejection', async (context) => {
    const server = await run(context);
    expect((await askRaw(server.port, 'GET /reject HTTP/1.1')).status).toBe(200);
    await context.expect
      .poll(server.output)
      .toMatch(/"digest":"[0-9A-Z]{8}".*"origin":"request".*"method":"GET","url":"\/reject"/);
    expect((await askRaw(server.port, 'GET /livez HTTP/1.1')).status).toBe(200);
  });

  it('ends the process with 1 if it was thrown outside a request, after requests in flight have finished', async (context) => {
    const server = await run(context);
    const slow = await open(server.port, get('/slow'));
    expect((await askRaw(server.port, 'GET /throw-outside HTTP/1.1')).body).toContain('answered');
    expect((await server.ended()).code).toBe(1);
    expect(parseReply(await slow.whole).body).toBe('slow and whole');
    expect(server.output()).toContain('"origin":"process"');
  });
});

describe('several listeners', () => {
  it('stop together, and drain as long as one of them does', async () => {
    const drains = [2, 3].map((cut): Drain & { draining: boolean } => {
      const drain = {
        draining: false,
        async start() {
          drain.draining = true;
          return { cut, owed: 1 };
        },
      };
      return drain;
    });
    const joined = joinDrains(drains);
    expect(joined.draining).toBe(false);
    expect(await joined.start()).toEqual({ cut: 5, owed: 2 });
    expect(drains.map(({ draining }) => draining)).toEqual([true, true]);
    expect(joined.draining).toBe(true);
  });
});
