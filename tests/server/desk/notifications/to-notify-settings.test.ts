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
      NOTIFY_AFTER: '3',
    }),
  );
  expect(shown).toEqual({
    targets: ['Webhook hooks.example.com', 'Mail to d@e.f'],
    settings: [
      ['Notify', 'after 3 occurrences'],
      ['Signed', 'Yes'],
      ['Links to the desk', 'http://127.0.0.1:3000'],
      ['Heartbeat', 'hc.example.com, every minute'],
    ],
  });
  expect(presentNotify(undefined)).toEqual({ targets: [], settings: [] });
  expect(presentNotify(read(WEBHOOK)).settings).toContainEqual(['Signed', expect.stringContaining('WEBHOOK_SECRET')]);
});
