import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import buildOnce from '../../support/build-once.ts';
import { createFolder } from '../../support/folder.ts';
import { findFreePort } from '../../support/free-port.ts';
import { listenInTest } from '../../support/listen.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url));
const MAIN = join(project, 'dist/server/main.js');

beforeAll(() => buildOnce());

/** Starts a server that is expected to fail, and waits for it to exit. */
function start(
  env: Readonly<Record<string, string>>,
  main = MAIN,
  options: readonly string[] = [],
  args: readonly string[] = [],
) {
  const all = {
    ...process.env,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: createFolder(onTestFinished),
    ...env,
  };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...options, main, ...args], {
    encoding: 'utf8',
    env: all,
    timeout: 40_000,
    killSignal: 'SIGKILL', // a server that did start would answer SIGTERM with 0
  });
  return { status, stdout, stderr };
}

describe('a failed start', () => {
  it('names a port that is in use', async () => {
    const port = await listenInTest(createServer());
    expect(start({ PORT: String(port) })).toEqual({
      status: 1,
      stdout: '',
      stderr: `Port ${port} on 127.0.0.1 is in use. Stop what listens there, or set PORT to another one. If your code or an existing app calls listen() on it, remove the call.\n`,
    });
  });

  it('names a setting whose name is almost that of another', async () => {
    const port = await listenInTest(createServer());
    const existingApps = { EMAIL_FROM: 'ada@a.example' };
    const { stdout } = start({ PORT: String(port), PUBLIC_ORIGIN: 'https://a.example', ...existingApps });
    expect(stdout).toContain('PUBLIC_ORIGIN is not a setting. Do you mean PUBLIC_ORIGINS?');
    expect(stdout).not.toContain('MAIL_FROM');
  });

  it('names every invalid setting, without its value', () => {
    expect(start({ PORT: 'hunter2', TRUST_PROXY: 'hunter2', LOG_LEVEL: 'hunter2' })).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^The setting PORT is not a port number\..+\nThe setting TRUST_PROXY does not say .+\nThe setting LOG_LEVEL is not a log level\..+\n$/,
      ),
    });
  });

  it('names an option that does not exist', () => {
    expect(start({}, MAIN, [], ['--check', '--port=4000'])).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^There is no option --port=4000\. .+ `PORT=4000 npm start`\.\n$/),
    });
  });

  it('names a data folder that is not writable', () => {
    const file = join(createFolder(onTestFinished), 'file');
    writeFileSync(file, '');
    expect(start({ DATA_DIR: join(file, 'data') })).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^The folder .+ \(DATA_DIR\) cannot be written to \(ENOTDIR\)\. Let this user .+\n$/,
      ),
    });
  });

  it.runIf(process.platform === 'linux')('names a data folder in a place of the system, with its error', () => {
    for (const args of [[], ['--check']]) {
      const { status, stdout, stderr } = start({ DATA_DIR: '/proc/data' }, MAIN, [], args);
      expect(status).toBe(1);
      expect(stdout + stderr).toMatch(
        /The folder \/proc\/data \(DATA_DIR\) cannot be written to \(E\w+\)\. Let this user /,
      );
      expect(stdout + stderr).not.toContain('Free disk space');
    }
  });

  it('asks you to build first if there is no build', () => {
    const folder = createFolder(onTestFinished);
    mkdirSync(join(folder, 'dist'));
    cpSync(join(project, 'dist/server'), join(folder, 'dist/server'), { recursive: true });
    cpSync(join(project, 'package.json'), join(folder, 'package.json'));
    symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
    expect(start({}, join(folder, 'dist/server/main.js'))).toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no usable build (dist/manifest.json is missing or broken). Run "npm run build" first.\n',
    });
  });
});

it.runIf(process.platform === 'linux')('warns of a low limit of open files', async () => {
  const env = { ...process.env, HOST: '127.0.0.1', PORT: '0', DATA_DIR: createFolder(onTestFinished) };
  const child = spawn('sh', ['-c', 'ulimit -n 300; exec "$0" "$1"', process.execPath, MAIN], { env });
  let log = '';
  child.stdout.on('data', (chunk) => (log += chunk));
  await expect.poll(() => log).toContain('open only 300 files');
  child.kill();
  await once(child, 'exit');
});

// Process 1 of a container does not get a signal that it does not listen to.
it('listens to signals before it loads the server', () => {
  const early = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name === './site.js') process.kill(process.pid, 'SIGTERM');
      return next(name, context);
    } });`;
  const { status } = start({}, MAIN, ['--import', `data:text/javascript,${encodeURIComponent(early)}`]);
  expect(status).toBe(0);
});

// `/dev/full` behaves like a file on a full disk.
it.runIf(existsSync('/dev/full')).each(['info', 'fatal'])(
  'serves and stops while its log cannot be written, at level %s',
  async (level) => {
    const port = await findFreePort();
    const env = {
      ...process.env,
      PORT: String(port),
      LOG_LEVEL: level,
      DRAIN_LAG: '0',
      OPERATOR_TOKEN: 'a'.repeat(24),
    };
    const child = spawn(process.execPath, [MAIN], {
      env: { ...env, NODE_ENV: 'production', DATA_DIR: createFolder(onTestFinished) },
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const url = `http://127.0.0.1:${port}`;
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(isReady).toBe(true);
    for (let request = 0; request < 3; request++) {
      expect((await fetch(url)).status).toBe(200);
      await setTimeout(150);
    }
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
    const complaints = said.split('\n').filter((line) => line.startsWith('The log cannot be written'));
    expect(complaints).toHaveLength(level === 'info' ? 1 : 0);
  },
);

it('compose.yaml contains only settings that exist', () => {
  const [compose = '', described = ''] = ['compose.yaml', '.env.example'].map((file) =>
    readFileSync(join(project, file), 'utf8'),
  );
  const [, environment = ''] = /x-site: &site\n[\s\S]*?\n {2}environment:\n((?: {4}.*\n)+)/.exec(compose) ?? [];
  const names = environment.match(/^ {4}[A-Z_]+(?=:)/gm)?.map((name) => name.trim()) ?? [];
  expect(names).toEqual(expect.arrayContaining(['TRUST_PROXY', 'PUBLIC_ORIGINS', 'OPERATOR_TOKEN']));
  expect(names.filter((name) => !described.includes(`\n# ${name}=`))).toEqual([]);
});
