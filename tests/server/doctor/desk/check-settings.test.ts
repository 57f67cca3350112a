import { expect, it } from 'vitest';
import { checkSettings } from '../../../../src/server/doctor/environment/check-settings.ts';
import { readEnvironment } from '../../../../src/server/doctor/environment/read-settings.ts';
import type { Finding } from '../../../../src/server/doctor/finding.ts';
import { type Environment, readSettings, toggle } from '../../../../src/server/engine/settings.ts';

const table = { WITH_CATS: { about: '', example: '', schema: toggle().optional() } };
const product = { table, read: (env: Environment) => readSettings(table, env) };
const resolve = async (host: string) => [{ address: host.endsWith('.internal') ? '10.0.0.9' : '93.184.216.34' }];

const check = (env: Environment): Promise<Finding[]> =>
  checkSettings({ env, read: readEnvironment(env), product, resolve, isContainer: false });

/** Returns the subject and text of every finding that is not ok. */
async function listIll(env: Environment): Promise<string[]> {
  return (await check(env))
    .filter(({ mark }) => mark !== 'ok')
    .map(({ about, mark, found }) => `${mark} ${about}: ${found}`);
}

it('checks if the server can be reached', async () => {
  const listening = async (env: Environment, isContainer: boolean) =>
    (await checkSettings({ env, read: readEnvironment(env), product, resolve, isContainer })).find(
      ({ about }) => about === 'HOST and PORT',
    );
  expect(await listening({}, false)).toMatchObject({ mark: 'ok' });
  expect(await listening({}, true)).toMatchObject({ mark: 'warning', remedies: [{ line: 'HOST=0.0.0.0' }] });
  expect(await listening({ HOST: '0.0.0.0' }, true)).toMatchObject({ mark: 'ok' });
});

it('checks that the desk has its own port', async () => {
  const judgePort = async (env: Environment) =>
    (await checkSettings({ env, read: readEnvironment(env), product, resolve, isContainer: false })).find(
      ({ about }) => about === 'DESK_PORT',
    );
  expect(await judgePort({})).toBeUndefined();
  expect(await judgePort({ DESK_PORT: '3000' })).toMatchObject({ mark: 'wrong' });
  expect(await judgePort({ DESK_PORT: '3000', DESK_ONLY: '1' })).toMatchObject({ mark: 'ok' });
});

const DRAWN = '6f1d0c5e9b7a4823';
const good = {
  PUBLIC_ORIGINS: 'https://www.example.com',
  TRUST_PROXY: '10.0.0.5',
  OPERATOR_TOKEN: DRAWN,
  NODE_ENV: 'production',
};

it("finds nothing on a developer's machine, or if everything is set", async () => {
  expect(await listIll({})).toEqual([]);
  expect(await listIll(good)).toEqual([]);
  expect(await listIll({ ...good, AUTH_PROXY_HEADER: 'X-User', AUTH_PROXY_SECRET: DRAWN })).toEqual([]);
});

it('reports every setting that would prevent a start', async () => {
  const ill = await listIll({
    PORT: 'abc',
    OPERATOR_TOKEN: 'short',
    SENTRY_DSN: 'https://sentry.io/1',
    SMTP_URL: 'smtp://localhost',
    WITH_CATS: 'perhaps',
    DESK_DATABASE_URL: 'postgres://u:p@db/x',
    AUTH_PROXY_HEADER: 'X-User',
    TRUST_PROXY: '1',
  });
  expect(ill.every((line) => line.startsWith('wrong Settings: '))).toBe(true);
  for (const name of [
    'PORT',
    'OPERATOR_TOKEN is not a valid token',
    'SENTRY_DSN',
    'SMTP_URL',
    'WITH_CATS',
    'AUTH_PROXY_HEADER needs the addresses',
    'AUTH_PROXY_HEADER needs AUTH_PROXY_SECRET',
  ]) {
    expect(ill.join('\n')).toContain(name);
  }
  expect(ill.join('\n')).toContain('OPERATOR_TOKEN is missing');
  expect(await listIll({ OPERATOR_TOKEN: DRAWN, VIEWER_TOKEN: DRAWN })).toEqual([
    expect.stringContaining('share a name or a token'),
  ]);
});

it.each([
  [{ PUBLIC_ORIGINS: '' }, 'PUBLIC_ORIGINS: Not set'],
  [{ PUBLIC_ORIGINS: 'http://www.example.com' }, 'http://www.example.com is plain http'],
  [{ TRUST_PROXY: '' }, 'TRUST_PROXY: Not set, although a proxy terminates TLS'],
  [{ TRUST_PROXY: '', TRUST_PROXIES: '1' }, 'TRUST_PROXIES: Nothing reads this variable'],
  [{ WITH_CAT: '1' }, 'WITH_CAT: Nothing reads this variable'],
  [{ OPERATOR_TOKEN: 'ada:aaaaaaaaaaaaaaaaaaaa' }, 'The token of ada can be guessed'],
  [{ AUTH_PROXY_SECRET: DRAWN }, 'AUTH_PROXY_SECRET: It is set without AUTH_PROXY_HEADER'],
  [{ AUTH_PROXY_HEADER: 'X-User', AUTH_PROXY_SECRET: 'aaaaaaaaaaaaaaaaaaaa' }, 'The secret can be guessed'],
])('warns about %j', async (change, words) => {
  const ill = await listIll({ ...good, ...change });
  expect(ill).toContainEqual(expect.stringContaining(words));
  expect(ill.every((line) => line.startsWith('warning '))).toBe(true);
});

it('expects no strangers on a loopback address', async () => {
  expect(await listIll({ PUBLIC_ORIGINS: 'http://localhost:3000', HOST: '127.0.0.1' })).toEqual([]);
});

it('checks if requests to the notification targets are allowed', async () => {
  const mail = { MAIL_FROM: 'desk@example.com', MAIL_TO: 'ada@example.com' };
  expect(
    await listIll({ ...good, ...mail, SMTP_URL: 'smtps://mail.example.com', HEARTBEAT_URL: 'https://hc.example.com' }),
  ).toEqual([]);
  const [inner] = (await check({ ...good, WEBHOOK_URL: 'https://hooks.internal/secret-path' })).filter(
    ({ mark }) => mark === 'wrong',
  );
  expect(inner).toMatchObject({ about: 'WEBHOOK_URL', remedies: [{ line: 'NOTIFY_PRIVATE_TARGETS=hooks.internal' }] });
  expect(JSON.stringify(inner)).not.toContain('secret-path');
  const env = { ...good, WEBHOOK_URL: 'https://gone.example.com' };
  const lost = await checkSettings({
    env,
    read: readEnvironment(env),
    product,
    isContainer: false,
    resolve: () => Promise.reject(new Error('ENOTFOUND')),
  });
  expect(lost.filter(({ mark }) => mark === 'wrong').map(({ found }) => found)).toEqual([
    'gone.example.com cannot be found: it has no address.',
  ]);
});

it('continues if the settings of the product cannot be loaded', async () => {
  const broken = await checkSettings({
    env: good,
    read: readEnvironment(good),
    product: new Error('no such file'),
    isContainer: false,
    resolve,
  });
  expect(broken.filter(({ mark }) => mark === 'wrong')).toEqual([
    expect.objectContaining({ found: expect.stringContaining('no such file') }),
  ]);
});
