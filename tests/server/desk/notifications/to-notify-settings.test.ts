import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/server/config.ts';
import { toNotifySettings } from '../../../../src/server/desk/notifications/to-notify-settings.ts';
import { presentNotify } from '../../../../src/server/desk/views/present-notify.ts';
import { ConfigError } from '../../../../src/server/engine/settings.ts';

const WEBHOOK = { WEBHOOK_URL: 'https://hooks.example.com/canary' };
const MAIL = { SMTP_URL: 'smtps://ada:canary@mail.example.com', MAIL_FROM: 'a@b.c', MAIL_TO: 'd@e.f' };
const read = (env: Record<string, string>) => toNotifySettings(readConfig(env));

it('are undefined without a target', () => {
  expect(read({})).toBeUndefined();
  expect(read({ NOTIFY_AFTER: '3', WEBHOOK_SECRET: 'x'.repeat(20) })).toBeUndefined();
});

it.each(['SMTP_URL', 'MAIL_FROM'] as const)('need %s for mail', (name) => {
  expect(() => read({ ...MAIL, [name]: '' })).toThrow(ConfigError);
  expect(() => read({ ...MAIL, [name]: '' })).toThrow('Set both to send mail');
});

it('send no mail without MAIL_TO, because only the app does', () => {
  expect(read({ ...MAIL, MAIL_TO: '' })).toBeUndefined();
  expect(read({ ...MAIL, ...WEBHOOK, MAIL_TO: '' })?.mail).toBeUndefined();
});

it('send mail to operators without MAIL_TO', () => {
  const people = { MAIL_PEOPLE: 'ada:ada@example.com, ada@example.com:ada@example.com' };
  expect(read({ ...MAIL, MAIL_TO: '', ...people })?.mail).toMatchObject({
    to: [],
    people: { ada: 'ada@example.com', 'ada@example.com': 'ada@example.com' },
  });
});

it('have the targets of the environment', () => {
  const env = {
    ...MAIL,
    WEBHOOK_URL: 'https://all.example/a,b,staging:https://staging.example/,production:https://production.example/',
    MAIL_TO: 'staging:s@e.f,all@e.f,production:p@e.f',
    HEARTBEAT_URL: 'production:https://hc.example.com/1',
  };
  const production = read(env);
  expect(production?.webhooks).toEqual(['https://all.example/a,b', 'https://production.example/']);
  expect(production?.mail?.to).toEqual(['all@e.f', 'p@e.f']);
  expect(production?.heartbeatUrl).toBe('https://hc.example.com/1');
  const staging = read({ ...env, SENTRY_ENVIRONMENT: 'staging' });
  expect(staging?.webhooks).toEqual(['https://all.example/a,b', 'https://staging.example/']);
  expect(staging?.mail?.to).toEqual(['s@e.f', 'all@e.f']);
  expect(staging?.heartbeatUrl).toBeUndefined();
});

describe('the origin of links', () => {
  it.each([
    [{}, 'http://127.0.0.1:3000'],
    [{ HOST: '0.0.0.0' }, undefined],
    [{ PORT: '0' }, undefined],
    [{ PUBLIC_ORIGINS: 'https://example.com,https://www.example.com' }, 'https://example.com'],
    [{ PUBLIC_ORIGINS: 'https://example.com', DESK_PORT: '3001', HOST: '10.0.0.5' }, 'http://10.0.0.5:3001'],
    [{ PUBLIC_ORIGINS: 'https://example.com', DESK_PORT: '3001', HOST: '0.0.0.0' }, undefined],
    [{ PUBLIC_ORIGINS: 'https://example.com', DESK_ORIGIN: 'https://desk.example.com' }, 'https://desk.example.com'],
  ])('with %o is %s', (env, origin) => {
    expect(read({ ...WEBHOOK, ...env })?.deskOrigin).toBe(origin);
  });
});

it('are shown without their secrets', () => {
  const shown = presentNotify(
    read({
      ...WEBHOOK,
      ...MAIL,
      WEBHOOK_SECRET: 'canary-canary-canary',
      HEARTBEAT_URL: 'https://hc.example.com/canary',
      NOTIFY_AFTER: '3, 10 in 5m, 20 visitors',
      MAIL_SUMMARY: '07:30',
      MAIL_PEOPLE: 'ada:ada@example.com',
    }),
  );
  expect(shown).toEqual({
    targets: ['Webhook hooks.example.com', 'Mail to d@e.f', 'Mail to ada'],
    settings: [
      ['Notify', 'after 3 occurrences, or after 10 occurrences in 5 min, or after 20 visitors'],
      ['Signed', 'Yes'],
      ['Links to the desk', 'http://127.0.0.1:3000'],
      ['Daily summary', 'by mail, at 07:30 UTC'],
      ['Heartbeat', 'hc.example.com, every minute'],
    ],
  });
  expect(presentNotify(undefined)).toEqual({ targets: [], settings: [] });
  expect(presentNotify(read(WEBHOOK)).settings).toContainEqual(['Signed', expect.stringContaining('WEBHOOK_SECRET')]);
});
