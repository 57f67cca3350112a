import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listTargets } from '../../../../src/server/desk/notifications/list-targets.ts';
import { toMessage } from '../../../../src/server/desk/notifications/message.ts';
import type { NotifySettings } from '../../../../src/server/desk/notifications/settings.ts';
import { sign } from '../../../../src/server/desk/notifications/sign.ts';
import { createTargets } from '../../../../src/server/desk/notifications/targets.ts';
import { Minute, Second } from '../../../../src/shared/units.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { claimedOf, incidentOf } from '../../../support/notices.ts';
import { startMailServer, startWebhook } from '../../../support/receivers.ts';

const SECRET = 'a-secret-of-the-webhook';

function settingsOf(wanted: Partial<NotifySettings> = {}): NotifySettings {
  return {
    webhooks: [],
    webhookFormat: undefined,
    webhookSecret: undefined,
    mail: undefined,
    after: [{ count: 1 }],
    privateTargets: ['127.0.0.1'],
    heartbeatUrl: undefined,
    deskOrigin: 'https://desk.example.com',
    environment: 'production',
    ...wanted,
  };
}

/** Only one kind of mail. */
const ONE = { people: {}, summaryAt: undefined };

const messageOf = (title = 'TypeError: boom') =>
  toMessage(claimedOf({}, { incident: incidentOf({ title }) }), undefined, {
    environment: 'production',
    hasOthers: false,
    deskOrigin: 'https://desk.example.com',
  });

async function useWebhook(wanted: Partial<NotifySettings> = {}) {
  const webhook = await startWebhook();
  onTestFinished(() => webhook.close());
  const [target] = createTargets({ settings: settingsOf({ webhooks: [webhook.url], ...wanted }) });
  return { webhook, send: (title?: string) => target?.send(messageOf(title)) };
}

async function useMail({ user = '', from = 'desk@example.com', offers = [] as string[], listed = ['127.0.0.1'] } = {}) {
  const server = await startMailServer({ offers });
  onTestFinished(() => server.close());
  const mail = {
    smtpUrl: `smtp://${user}127.0.0.1:${server.port}`,
    from,
    to: ['ada@example.com', 'bob@example.com'],
    ...ONE,
  };
  const [target] = createTargets({ settings: settingsOf({ mail, privateTargets: listed }) });
  return { server, send: (title?: string) => target?.send(messageOf(title)) };
}

type Verify = (headers: IncomingHttpHeaders, body: string, secret: string) => boolean;

/** Returns the verification code that `docs/desk.md` gives to receivers. */
function readExample(): Verify {
  const text = readFileSync(new URL('../../../../docs/desk.md', import.meta.url), 'utf8');
  const [, code = ''] = /```js\n(function isFromSpillway[\s\S]*?)```/.exec(text) ?? [];
  return new Function('createHmac', 'timingSafeEqual', `${code} return isFromSpillway;`)(createHmac, timingSafeEqual);
}

describe('a webhook', () => {
  it('has a signature with a timestamp that a receiver can verify', async () => {
    const { webhook, send } = await useWebhook({ webhookSecret: SECRET });
    expect(await send()).toEqual({ ok: true, words: 'It answered 200.' });
    const [{ headers, body, method } = { headers: {}, body: '', method: '' }] = webhook.posted;
    expect([method, headers['content-type']]).toEqual(['POST', 'application/json']);
    expect(headers['x-spillway-id']).toBe(JSON.parse(body).id);

    const isFromSpillway = readExample();
    expect(isFromSpillway(headers, body, SECRET)).toBe(true);
    expect(isFromSpillway(headers, `${body} `, SECRET)).toBe(false);
    expect(isFromSpillway(headers, body, `${SECRET}x`)).toBe(false);
    expect(isFromSpillway({}, body, SECRET)).toBe(false);
    const later = { ...headers, 'x-spillway-timestamp': String(Number(headers['x-spillway-timestamp']) + 1) };
    expect(isFromSpillway(later, body, SECRET)).toBe(false);
    const old = sign(SECRET, body, Date.now() - 6 * Minute);
    const replayed = Object.fromEntries(Object.entries(old).map(([name, value]) => [name.toLowerCase(), value]));
    expect(isFromSpillway(replayed, body, SECRET)).toBe(false);
  });

  it('has no signature without a secret', async () => {
    const { webhook, send } = await useWebhook();
    await send();
    expect(webhook.posted[0]?.headers).not.toHaveProperty('x-spillway-signature');
  });

  it('uses the format of Slack if it is configured', async () => {
    const { webhook, send } = await useWebhook({ webhookFormat: 'slack' });
    await send();
    expect(JSON.parse(webhook.posted[0]?.body ?? '')).toMatchObject({
      text: expect.any(String),
      blocks: expect.any(Array),
    });
  });

  it.each([
    [500, {}, { ok: false, words: expect.stringContaining('Check its log'), retryAfter: 0 }],
    [404, {}, { ok: false, words: expect.stringContaining('Check the URL in WEBHOOK_URL.'), retryAfter: 0 }],
    [429, { 'Retry-After': '30' }, { ok: false, words: expect.stringContaining('429'), retryAfter: 30 * Second }],
    [
      401,
      {},
      { ok: false, isFinal: true, words: expect.stringContaining('Check the URL in WEBHOOK_URL and the secret') },
    ],
    [400, {}, { ok: false, isFinal: true, words: expect.stringContaining('WEBHOOK_FORMAT') }],
    [302, { Location: 'http://127.0.0.1/' }, { ok: false, isFinal: true, words: expect.stringContaining('redirect') }],
  ])('that answers %s with %o has the right outcome', async (status, headers, outcome) => {
    const { webhook, send } = await useWebhook();
    webhook.answer = { status, headers };
    expect(await send()).toEqual(outcome);
    expect(webhook.posted).toHaveLength(1);
  });

  it('that is unreachable or not public says what to do', async () => {
    const port = await findFreePort();
    const send = async (url: string, listed: string[]) => {
      const settings = settingsOf({ webhooks: [url], privateTargets: listed });
      const resolve = async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
      return createTargets({ settings, resolve })[0]?.send(messageOf());
    };
    expect(await send(`http://127.0.0.1:${port}/`, ['127.0.0.1'])).toMatchObject({
      ok: false,
      words: expect.stringContaining('refused the connection'),
    });
    expect(await send(`http://127.0.0.1:${port}/`, [])).toMatchObject({
      isFinal: true,
      words: expect.stringContaining('list it in NOTIFY_PRIVATE_TARGETS'),
    });
    expect(await send('http://nowhere.test/', [])).toMatchObject({
      words: expect.stringContaining('DNS does not know its name'),
    });
  });
});

describe('an email', () => {
  it('has a text part, an HTML part and a unique id', async () => {
    const { server, send } = await useMail();
    expect(await send()).toEqual({ ok: true, words: 'The mail server accepted it.' });
    const [mail] = server.mails;
    expect(mail).toMatchObject({ from: 'desk@example.com', to: ['ada@example.com', 'bob@example.com'], auth: '' });
    expect(mail?.data).toContain('Subject: [production] New: TypeError: boom');
    expect(mail?.data).toContain('Message-ID: <0123456789abcdef@example.com>');
    expect(mail?.data).toContain('Auto-Submitted: auto-generated');
    expect(mail?.data).toMatch(/Content-Type: text\/plain[\s\S]*Content-Type: text\/html/);
  });

  it.each([
    'boom\r\nBcc: eve@evil.example',
    'boom\nX: y',
    'boom\r\n\r\nbody',
    'boom\u2028Bcc: x@y.z',
    '\u{1F600}\r\nBcc: é',
  ])('gets no extra header from a title: %j', async (title) => {
    const { server, send } = await useMail();
    await send(title);
    const [headers = ''] = (server.mails[0]?.data ?? '').split('\r\n\r\n');
    const names = headers
      .split('\r\n')
      .filter((line) => !/^\s/.test(line))
      .map((line) => line.split(':')[0]);
    expect(names.sort()).toEqual(
      [
        ...['Auto-Submitted', 'Content-Type', 'Date', 'From', 'MIME-Version', 'Message-ID', 'Subject', 'To'],
        'X-Auto-Response-Suppress',
      ].sort(),
    );
    expect(server.mails[0]?.to).toEqual(['ada@example.com', 'bob@example.com']);
  });

  it.each([
    ['550 no such user', { ok: false, isFinal: true, words: expect.stringContaining('refused it (550)') }],
    ['451 later', { ok: false, words: expect.stringContaining('at the moment (451)') }],
  ])('that is answered with %s has the right outcome', async (answer, outcome) => {
    const { server, send } = await useMail();
    server.answer = answer;
    expect(await send()).toEqual(outcome);
  });

  it('sends the password over a private connection, and never over an unencrypted public one', async () => {
    const own = await useMail({ user: 'ada%40example.com:p%23ss@', offers: ['AUTH PLAIN'] });
    expect(await own.send()).toMatchObject({ ok: true });
    const [, , sent = ''] = own.server.mails[0]?.auth.split(' ') ?? [];
    expect(Buffer.from(sent, 'base64').toString()).toBe('\0ada@example.com\0p#ss');

    // Lists the network but not the name, to imitate a public server.
    const server = await startMailServer({ offers: ['AUTH PLAIN'] });
    onTestFinished(() => server.close());
    const mail = { smtpUrl: `smtp://ada:secret@mail.test:${server.port}`, from: 'a@b.c', to: ['d@e.f'], ...ONE };
    const settings = settingsOf({ mail });
    const [other] = createTargets({ settings, resolve: async () => [{ address: '127.0.0.1' }] });
    expect(await other?.send(messageOf())).toMatchObject({ ok: false, words: expect.stringContaining('Use smtps') });
    expect(server.mails).toEqual([]);
  });

  it('for an operator goes only to them, even without other recipients', async () => {
    const server = await startMailServer();
    onTestFinished(() => server.close());
    const people = { ada: 'ada@example.com', 'bob@example.com': 'bob@example.com' };
    const mail = { smtpUrl: `smtp://127.0.0.1:${server.port}`, from: 'a@b.c', to: [], people, summaryAt: 0 };
    const targets = createTargets({ settings: settingsOf({ mail }) });
    expect(targets.map(({ name }) => name)).toEqual(['Mail to ada', 'Mail to bob@example.com']);
    const assigned = claimedOf({ kind: 'assigned', detail: { by: 'grace', to: 'ada' } });
    const message = toMessage(assigned, undefined, {
      environment: 'production',
      hasOthers: false,
      deskOrigin: undefined,
    });
    expect(await targets[0]?.send(message)).toMatchObject({ ok: true });
    expect(server.mails).toMatchObject([{ to: ['ada@example.com'] }]);
    expect(server.mails[0]?.data).toContain('grace assigned it to ada.');
  });

  it('is not sent to an address that is not public', async () => {
    const { server, send } = await useMail({ listed: [] });
    expect(await send()).toMatchObject({ isFinal: true, words: expect.stringContaining('NOTIFY_PRIVATE_TARGETS') });
    expect(server.mails).toEqual([]);
  });
});

describe('the names of targets', () => {
  it('contain no secrets, and their ids never change', () => {
    const settings = settingsOf({
      webhooks: [
        'https://hooks.slack.com/services/T0/B0/canary',
        'https://hooks.example.com/canary?canary=1',
        'https://hooks.example.com/canary2',
      ],
      mail: {
        smtpUrl: 'smtps://ada:canary@mail.example.com',
        from: 'x@y.z',
        to: ['ada@example.com'],
        people: { bob: 'bob@example.com' },
        summaryAt: 0,
      },
    });
    expect(listTargets(settings)).toEqual([
      { id: '9d4f109c472194ed', name: 'Slack webhook hooks.slack.com' },
      { id: expect.stringMatching(/^[0-9a-f]{16}$/), name: 'Webhook hooks.example.com' },
      { id: expect.stringMatching(/^[0-9a-f]{16}$/), name: 'Webhook hooks.example.com (2)' },
      { id: expect.stringMatching(/^[0-9a-f]{16}$/), name: 'Mail to ada@example.com' },
      { id: expect.stringMatching(/^[0-9a-f]{16}$/), name: 'Mail to bob', person: 'bob' },
    ]);
    const targets = createTargets({ settings });
    expect(targets.map(({ send: _send, summaryAt: _at, ...target }) => target)).toEqual(listTargets(settings));
    expect(targets.map(({ summaryAt }) => summaryAt)).toEqual([undefined, undefined, undefined, 0, undefined]);
  });
});
