import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { settings } from '#product-server/settings.ts';
import { readDeskSettings } from '../../../src/desk/server/read-settings.ts';
import { DESK_SETTINGS } from '../../../src/desk/server/settings.ts';
import { readConfig, SETTINGS } from '../../../src/server/config.ts';
import { readSettings } from '../../../src/server/settings.ts';

const WEBHOOK = { WEBHOOK_URL: 'https://hooks.example.com/canary,b,https://other.example/' };
const MAIL = { SMTP_URL: 'smtps://ada:canary@mail.example.com', MAIL_FROM: 'a@b.c', MAIL_TO: 'd@e.f, g@h.i' };
const readAll = (env: Record<string, string>) => readDeskSettings(env, readConfig(env));
const read = (env: Record<string, string>) => readAll(env).notify;

it('reads the targets, of which there can be none', () => {
  expect(read({ ...WEBHOOK, ...MAIL })).toMatchObject({
    webhooks: ['https://hooks.example.com/canary,b', 'https://other.example/'],
    mail: { to: ['d@e.f', 'g@h.i'] },
  });
  expect(read({ NOTIFY_AFTER: '3', WEBHOOK_SECRET: 'x'.repeat(20) })).toBeUndefined();
  expect(read({ ...MAIL, MAIL_TO: '' })).toBeUndefined(); // only the app sends mail
});

it.each([
  [{}, 'http://127.0.0.1:3000'],
  [{ HOST: '0.0.0.0' }, undefined],
  [{ PORT: '0' }, undefined],
  [{ PUBLIC_ORIGINS: 'https://example.com,https://www.example.com' }, 'https://example.com'],
  [{ PUBLIC_ORIGINS: 'https://example.com', DESK_PORT: '3001', HOST: '10.0.0.5' }, 'http://10.0.0.5:3001'],
  [{ PUBLIC_ORIGINS: 'https://example.com', DESK_PORT: '3001', HOST: '0.0.0.0' }, undefined],
  [{ PUBLIC_ORIGINS: 'https://example.com', DESK_ORIGIN: 'https://desk.example.com' }, 'https://desk.example.com'],
])('the origin of links with %o is %s', (env, origin) => {
  expect(read({ ...WEBHOOK, ...env })?.deskOrigin).toBe(origin);
});

it('trusts the header of a proxy only with addresses and a secret', () => {
  const settings = {
    AUTH_PROXY_HEADER: 'X-Forwarded-User',
    AUTH_PROXY_SECRET: 'a-secret-of-the-proxy',
    TRUST_PROXY: '10.0.0.0/8',
  };
  expect(readAll(settings).proxy?.header).toBe('x-forwarded-user');
  expect(readAll({ ...settings, AUTH_PROXY_HEADER: '', TRUST_PROXY: '1' }).proxy).toBeUndefined();
  expect(() => readAll({ ...settings, TRUST_PROXY: '1', AUTH_PROXY_SECRET: '' })).toThrow(
    /TRUST_PROXY.*\n.*AUTH_PROXY_SECRET/,
  );
});

it('needs a token that all replicas know', () => {
  const shared = { DESK_DATABASE_URL: 'postgres://desk@localhost/desk' };
  expect(() => readAll(shared)).toThrow('The setting OPERATOR_TOKEN is missing');
  expect(readAll({ ...shared, OPERATOR_TOKEN: 'x'.repeat(20) }).databaseUrl).toBe(shared.DESK_DATABASE_URL);
});

it('accepts its examples', () => {
  for (const [name, { example }] of Object.entries(DESK_SETTINGS)) {
    expect(() => readSettings(DESK_SETTINGS, { [name]: example }), name).not.toThrow();
  }
});

it.each([
  ['NOTIFY_AFTER', ['canary', '0', '1000001']],
  ['DESK_DATABASE_URL', ['canary', 'mysql://canary/x', 'postgres:///canary']],
  ['AUTH_PROXY_HEADER', ['canary canary', 'canary:', 'canary\r\nX', 'Cookie', 'authorization', 'X-Forwarded-For']],
  ['AUTH_PROXY_SECRET', ['canary', 'canary canary canary canary', 'canaryé'.repeat(3), 'canary'.repeat(40)]],
  ['AUTH_PROXY_OPERATORS', [`ada,${'canary'.repeat(20)}`]],
  ['DESK_ORIGIN', ['canary', 'https://canary/desk', 'https://canary,https://x', 'ftp://canary']],
  ['WEBHOOK_URL', ['canary', 'ftp://canary', 'https://u:canary@x', 'https://x,canary:x,https://y', 'file:///canary']],
  ['WEBHOOK_SECRET', ['canary', 'canary canary canary']],
  ['MAIL_TO', ['canary', 'a@b,canary', 'canary @x', 'canary@x\ny@z']],
  ['SOURCE_LINK', ['canary', 'https://canary.example/', 'javascript://canary/{file}', 'https://canary canary/{file}']],
  ['ISSUE_LINK', ['https://canary/?t={title}', 'https://canary/{digest}?{titel}', 'javascript:canary({digest})']],
  ['TRACE_LINK', ['https://canary/', 'https://canary/{traceId}/{spanId}', 'javascript://canary/{traceId}']],
])('an invalid %s is reported in one sentence that names the setting but not the value', (name, values) => {
  for (const value of values) {
    expect(() => readAll({ [name]: value }), value).toThrow(
      new RegExp(`^The setting ${name} (?:is|contains|does)\\b.+\\.$`),
    );
    expect(() => readAll({ [name]: value }), value).not.toThrow(/canary/);
  }
});

it('is described in .env.example, with all other settings and nothing else', () => {
  const text = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
  for (const [name, { about, example }] of Object.entries(DESK_SETTINGS)) {
    expect(text).toContain(`# ${about}\n# ${name}=${example}\n`);
  }
  const names = [...text.matchAll(/^# ([A-Z_]+)=/gm)].map(([, name]) => name);
  const ofServer = Object.keys({ ...SETTINGS, ...DESK_SETTINGS, ...settings.table });
  expect(names.toSorted()).toEqual([...ofServer, 'EDITOR_LINK'].toSorted()); // read by the browser's overlay
});
