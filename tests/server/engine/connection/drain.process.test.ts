import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, type TestContext } from 'vitest';
import { type Drain, joinDrains } from '../../../../src/server/engine/connection/drain.ts';
import { askRaw, parseReply } from '../../../support/raw-http.ts';
import { until } from '../../../support/until.ts';

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
  readonly output: () => string;
  /** Exit code, and how long it took since this was called. */
  ended(): Promise<{ code: number | null; signal: string | null; ms: number }>;
}

async function run(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  { lag = 0, deadline = 20_000, hangs = false } = {},
): Promise<Running> {
  const script = new URL('../../../support/drain-server.ts', import.meta.url).pathname;
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

/** A connection that has sent these bytes, and what comes back on it until it ends. */
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

// At once: each of them mostly waits.
describe.concurrent('a stop', () => {
  it('lets pages and streams in flight finish, and ends with 0', async (context) => {
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

  it('answers who had opened a connection, and asks a moment after', async (context) => {
    const server = await run(context);
    const { socket, whole } = await open(server.port, '');
    server.child.kill('SIGTERM');
    await sleep(150);
    socket.write(get('/livez'));
    expect(parseReply(await whole)).toMatchObject({ status: 200, body: 'ok\n', headers: { connection: 'close' } });
    expect((await server.ended()).code).toBe(0);
  });

  it('answers those whom the system had let in before it stopped', async (context) => {
    const server = await run(context);
    await open(server.port, get('/stand-still'));
    const asked = await Promise.all(Array.from({ length: 100 }, () => open(server.port, get('/livez'))));
    server.child.kill('SIGTERM');
    const statuses = (await Promise.all(asked.map(({ whole }) => whole))).map((whole) => parseReply(whole).status);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect((await server.ended()).code).toBe(0);
  });

  it('says so to the proxy first, and closes each connection behind its reply', async (context) => {
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

  it('cuts what the peers left undone by the deadline, and still ends with 0', async (context) => {
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

  it('ends with 1 and says so where it had to cut a reply of its own', async (context) => {
    const server = await run(context, { deadline: 500 });
    await open(server.port, get('/never'));
    server.child.kill('SIGTERM');
    expect((await server.ended()).code).toBe(1);
    expect(server.output()).toMatch(/"cut":1,"owed":1.*The deadline \(DRAIN_DEADLINE\) passed/);
  });

  it('ends with 1 and says so where what comes after the last reply takes too long', async (context) => {
    const server = await run(context, { deadline: 500, hangs: true });
    server.child.kill('SIGTERM');
    expect(await server.ended()).toMatchObject({ code: 1, signal: null });
    expect(server.output()).toContain('did not stop in time');
  });

  it('delivers every byte of a reply that was ended but not flushed', async (context) => {
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

  it('ends at once, with another code, where it is asked for again', async (context) => {
    const server = await run(context, { lag: 30_000, deadline: 5000 });
    server.child.kill('SIGTERM');
    await isStopping(server);
    server.child.kill('SIGTERM');
    const { code, ms } = await server.ended();
    expect(code).toBe(1);
    expect(ms).toBeLessThan(15_000);
  });
});

describe.concurrent('a fault of the process', () => {
  it('does not end it where a request caused the rejection', async (context) => {
    const server = await run(context);
    expect((await askRaw(server.port, 'GET /reject HTTP/1.1')).status).toBe(200);
    await context.expect
      .poll(server.output)
      .toMatch(/"digest":"[0-9A-Z]{8}".*"origin":"request".*"method":"GET","url":"\/reject"/);
    expect((await askRaw(server.port, 'GET /livez HTTP/1.1')).status).toBe(200);
  });

  it('ends it with 1 where something was thrown outside, once what is in flight has finished', async (context) => {
    const server = await run(context);
    const slow = await open(server.port, get('/slow'));
    expect((await askRaw(server.port, 'GET /throw-outside HTTP/1.1')).body).toContain('answered');
    expect((await server.ended()).code).toBe(1);
    expect(parseReply(await slow.whole).body).toBe('slow and whole');
    expect(server.output()).toContain('"origin":"process"');
  });
});

describe('several listeners', () => {
  it('end together, and drain as long as one of them does', async () => {
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
