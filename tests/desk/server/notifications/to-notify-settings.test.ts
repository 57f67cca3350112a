import { expect, it } from 'vitest';
import { toNotifySettings } from '../../../../src/desk/server/notifications/to-notify-settings.ts';
import { presentNotify } from '../../../../src/desk/server/views/present-notify.ts';
import { readConfig } from '../../../../src/server/config.ts';

const WEBHOOK = { WEBHOOK_URL: 'https://hooks.example.com/canary,b,https://other.example/' };
const MAIL = { SMTP_URL: 'smtps://ada:canary@mail.example.com', MAIL_FROM: 'a@b.c', MAIL_TO: 'd@e.f, g@h.i' };
const read = (env: Record<string, string>) => toNotifySettings(readConfig(env));

it('reads the targets, of which there can be none', () => {
  expect(read({ ...WEBHOOK, ...MAIL })).toMatchObject({
    webhooks: ['https://hooks.example.com/canary,b', 'https://other.example/'],
    mail: { to: ['d@e.f', 'g@h.i'] },
  });
  expect(read({ NOTIFY_AFTER: '3', WEBHOOK_SECRET: 'x'.repeat(20) })).toBeUndefined();
  expect(read({ ...MAIL, MAIL_TO: '' })).toBeUndefined(); // only the app sends mail
});

it.each(['SMTP_URL', 'MAIL_FROM'])('needs %s for mail', (name) => {
  expect(() => read({ ...MAIL, [name]: '' })).toThrow('Set both to send mail');
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

it('shows the settings without their secrets', () => {
  const more = { WEBHOOK_SECRET: 'canary-canary-canary', NOTIFY_AFTER: '3' };
  expect(presentNotify(read({ ...WEBHOOK, ...MAIL, ...more }))).toEqual({
    targets: ['Webhook 1 hooks.example.com', 'Webhook 2 other.example', 'Mail to d@e.f, g@h.i'],
    settings: [
      ['Notify', 'after 3 occurrences'],
      ['Signed', 'Yes'],
      ['Links to the desk', 'http://127.0.0.1:3000'],
    ],
  });
  expect(presentNotify(read(WEBHOOK)).settings).toContainEqual(['Signed', expect.stringContaining('WEBHOOK_SECRET')]);
});
