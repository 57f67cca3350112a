import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { escapeControls } from '../../../src/server/request/logger.ts';

const logger = fileURLToPath(new URL('../../../src/server/request/logger.ts', import.meta.url));

interface Line {
  readonly time: string;
  readonly at: number;
  readonly msg: string;
}

/** Returns what a process printed that logged something and then waited without exiting. */
async function readLog(script: string) {
  const code = `import { createLogger } from ${JSON.stringify(logger)};
    const { log, flush } = await createLogger({ level: 'info', terminal: false });
    ${script}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (text.includes('"last"}\n')) break;
  }
  child.kill('SIGKILL');
  return text
    .slice(0, text.lastIndexOf('\n'))
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

it('writes lines without a flush, each with the time at which it was logged', async () => {
  const lines = await readLog(`
    for (const ms of [0, 7, 600, 700]) setTimeout(() => log.info({ at: Date.now() }, String(ms)), ms);
    setTimeout(() => log.info({ at: Date.now() }, 'last'), 1100);
    setTimeout(() => {}, 60_000);`);
  expect(lines.map(({ msg }) => msg)).toEqual(['0', '7', '600', '700', 'last']);
  for (const { time, at } of lines) {
    expect(time).toBe(new Date(time).toISOString());
    expect(Math.abs(Date.parse(time) - at)).toBeLessThan(400);
  }
});

// Several times, because a write in another thread is lost only most of the time.
it.each(['process.exit();', '', '', ''])(
  'writes all buffered lines when the process ends without a flush: %s',
  async (end) => {
    const lines = await readLog(`
    for (let line = 0; line < 50; line++) log.info({ at: line }, 'line');
    ${end}`);
    expect(lines.map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, line) => line));
  },
);

it('writes what waits once a full disk has space again, also if nothing more is logged', async () => {
  const lines = await readLog(`
    const { default: fs } = await import('node:fs');
    const { write } = fs;
    fs.write = (...args) => args.at(-1)(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
    log.info('last');
    for (let line = 0; line < 60; line++) log.info('x'.repeat(100_000));
    setTimeout(() => { fs.write = write; }, 500);
    setTimeout(() => {}, 60_000);`);
  expect(lines[0]?.msg).toBe('last');
});

it('escapes characters that a terminal or a line reader would interpret', async () => {
  const words = '\u0000\u001b[31m\r\n\u007f\u0085\u009b31m\u2028\u2029 \ud800 “ü€😀”';
  const { escaped, msg } = JSON.parse(
    escapeControls(JSON.stringify({ escaped: escapeControls(JSON.stringify(words)), msg: words })),
  ) as { escaped: string; msg: string };
  expect(escaped).toMatch(/^[ -~“ü€😀”]+$/u);
  expect([JSON.parse(escaped), msg]).toEqual([words, words]);
  const [line] = await readLog("log.info('red \\u009b\\u2028'); log.info('last'); setTimeout(() => {}, 60_000);");
  expect(line?.msg).toBe('red \u009b\u2028');
});

it.each([true, false])('survives a terminal or a reader that is gone: terminal %s', async (terminal) => {
  const code = `import { createLogger } from ${JSON.stringify(logger)};
    const { log, flush } = await createLogger({ level: 'info', terminal: ${terminal} });
    log.info('ready');
    process.stdin.once('data', () => {
      log.info('lost');
      process.stdout.write('lost');
      process.stderr.write('lost');
      setTimeout(() => { flush(); process.exit(7); }, 200);
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code]);
  await once(child.stdout, 'data');
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  child.stdin.write('go');
  expect(await once(child, 'exit')).toEqual([7, null]);
});
