import { createHmac, timingSafeEqual } from 'node:crypto';
import { NOTFOUND, Resolver } from 'node:dns';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { toMessage } from '../../../../src/desk/server/notifications/message.ts';
import type { NotifySettings } from '../../../../src/desk/server/notifications/settings.ts';
import { createTargets } from '../../../../src/desk/server/notifications/targets.ts';
import type { NotificationEvent } from '../../../../src/desk/server/store/notification-table.ts';
import type { Incident } from '../../../../src/desk/server/store/records.ts';
import { Minute, Second } from '../../../../src/shared/units.ts';
import { startMailServer, startWebhook } from '../../../support/receivers.ts';

const SECRET = 'a-secret-of-the-webhook';
const LINK = 'https://desk.example.com/desk/7K3QM2XA';
const FACTS = { environment: 'production', deskOrigin: 'https://desk.example.com' };
const FIRST = Date.UTC(2026, 10, 21, 20, 0, 0);

const INCIDENT: Incident = {
  ...{ key: '7K3QM2XA@production', digest: '7K3QM2XA', environment: 'production', kind: 'exception' },
  ...{ title: 'TypeError: boom', message: 'boom', route: '/orders/:id' },
  ...{ state: 'open', version: 0, locationLine: 41 },
  location: { path: 'src/server/product/cart.ts', function: 'load' },
  ...{ firstAt: FIRST, lastAt: FIRST + Minute, firstRelease: 'v1', lastRelease: 'v2' },
  counts: { server: 1200, browser: 3 },
  visitors: 7,
};

function settingsOf(wanted: Partial<NotifySettings> = {}): NotifySettings {
  return {
    ...{ webhooks: [], webhookSecret: undefined, mail: undefined, after: 1 },
    ...{ deskOrigin: FACTS.deskOrigin, ...wanted },
  };
}

const itemOf = (wanted: Partial<Incident> = {}, event: NotificationEvent = 'new') => ({
  event,
  incident: { ...INCIDENT, ...wanted },
});

const messageOf = (items = [itemOf()], facts: Parameters<typeof toMessage>[1] = FACTS) =>
  toMessage({ id: '0123456789abcdef', items }, facts);

async function useWebhook(wanted: Partial<NotifySettings> = {}) {
  const webhook = await startWebhook();
  onTestFinished(() => webhook.close());
  const [target] = createTargets(settingsOf({ webhooks: [webhook.url], ...wanted }));
  return {
    webhook,
    send: (message = messageOf()) => target?.send(message),
    async post(message = messageOf()) {
      await target?.send(message);
      return JSON.parse(webhook.posted.at(-1)?.body ?? '');
    },
  };
}

async function useMail({ user = '', offers = [] as string[], host = '127.0.0.1' } = {}) {
  const server = await startMailServer({ offers });
  onTestFinished(() => server.close());
  const mail = {
    smtpUrl: `smtp://${user}${host}:${server.port}`,
    from: 'desk@example.com',
    to: ['ada@example.com', 'bob@example.com'],
  };
  const [target] = createTargets(settingsOf({ mail }));
  return {
    server,
    send: (message = messageOf()) => target?.send(message),
    /** Returns the headers and the text. */
    async mail(message = messageOf()) {
      await target?.send(message);
      const [headers = '', ...body] = (server.mails.at(-1)?.data ?? '').split('\r\n\r\n');
      const text = decode(body.join('\n\n'));
      return { headers, subject: /^Subject: (.*(?:\r\n .*)*)/m.exec(headers)?.[1] ?? '', text };
    },
  };
}

/** Decodes quoted-printable text. */
function decode(text: string): string {
  const bytes = text
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`)));
  return Buffer.from(bytes, 'latin1').toString();
}

describe('a message', () => {
  it('says what happened, why, where, how often and in which release, and links to it', async () => {
    const { post } = await useWebhook();
    expect(await post()).toEqual({
      ...{ id: '0123456789abcdef', event: 'incident.new', at: expect.stringMatching(/^\d{4}-.*Z$/) },
      ...{ environment: 'production', link: 'https://desk.example.com/desk' },
      incidents: [
        {
          event: 'new',
          why: 'New incident, first seen in release v1.',
          link: LINK,
          ...{ digest: '7K3QM2XA', environment: 'production', title: 'TypeError: boom', kind: 'exception' },
          ...{ route: '/orders/:id', file: 'src/server/product/cart.ts', line: 41, function: 'load' },
          ...{ counts: { server: 1200, browser: 3 }, visitors: 7 },
          lastRelease: 'v2',
        },
      ],
      text: expect.stringContaining(LINK),
      content: expect.stringContaining(LINK),
      unfurl_links: false,
      allowed_mentions: { parse: [] },
    });
  });

  it('can have several incidents, with their reasons, also of other environments that share the store', async () => {
    const items = [
      itemOf({ kind: 'server-exit' }, 'frequent'),
      itemOf({ digest: '2M3KQ7XA', environment: 'staging', regressedIn: 'v2' }, 'regressed'),
    ];
    const { event, environment, incidents } = await (await useWebhook()).post(messageOf(items));
    expect([event, environment]).toEqual(['incidents', 'production, staging']);
    expect(incidents).toMatchObject([
      { why: 'It has happened 1,203 times. It ended the server.', link: LINK },
      {
        why: 'It returned after it was resolved, in release v2.',
        link: 'https://desk.example.com/desk/2M3KQ7XA?environment=staging',
      },
    ]);
    expect((await (await useMail()).mail(messageOf(items))).subject).toBe('[production, staging] 2 incidents');
  });
});

describe('text from a stranger', () => {
  /** Text that mail and chat programs turn into a link or a mention. */
  const SELF_MADE = /:\/\/|\bwww\.\w|mailto:|@(?:here|channel|all|\w)|\]\(|evil\.example|<[!@]/i;
  it.each([
    '<!channel> look <@U123> <https://evil.example|the desk>',
    '@here @channel @all <!here|here>',
    '[the desk](https://evil.example) ![x](http://evil.example/x.png)',
    'https://evil.example/login www.evil.example evil.example/login mailto:eve@evil.example',
    '<a href="https://evil.example">x</a><img src=x onerror=alert(1)><script>1</script>"\'&amp;',
    '</td></table><a href=//evil.example>x',
    '*bold* `code` ~gone~ > quote\r\nBcc: eve@evil.example\r\n\r\nbody',
    'x\u202Elmth.evil\u2066 \u200Bhttps:\u200B//evil.example\u0000\u001b[31m',
    'y'.repeat(3000),
  ])('is no link, mention, markup or header: %j', async (evil) => {
    const location = { path: evil, function: evil };
    const titles = { title: evil, message: evil, route: evil, firstRelease: evil, lastRelease: evil };
    const message = messageOf([itemOf({ ...titles, location })]);
    const sent = await (await useWebhook()).post(message);
    expect(sent.incidents[0].title).toBe(evil);
    expect(sent.content.length).toBeLessThanOrEqual(2000);
    const { headers, subject, text } = await (await useMail()).mail(message);
    for (const said of [sent.text, sent.content, text, subject]) {
      const rest = said.replace(LINK, '');
      expect(rest).not.toMatch(SELF_MADE);
      expect(rest).not.toMatch(/[*`~]|\u202E/);
      expect(rest.replaceAll(/\r?\n/g, '')).not.toMatch(/\p{Cc}/u);
    }
    expect(sent.text.split('\n')).toHaveLength(7); // a new line could look like part of our text
    const names = headers.split('\r\n').flatMap((line) => (/^\s/.test(line) ? [] : [line.split(':')[0]]));
    expect(names.sort().join(' ')).toBe(
      'Auto-Submitted Content-Transfer-Encoding Content-Type Date From MIME-Version Message-ID Subject To X-Auto-Response-Suppress',
    );
    expect(subject.length).toBeLessThan(1000);
  });
});

describe('a webhook', () => {
  it('has a signature with a timestamp, which the code in docs/desk.md verifies', async () => {
    const { webhook, send } = await useWebhook({ webhookSecret: SECRET });
    expect(await send()).toEqual({ ok: true, words: 'It answered 200.' });
    const [{ headers, body, method } = { headers: {}, body: '', method: '' }] = webhook.posted;
    expect([method, headers['content-type'], headers['x-spillway-id']]).toEqual([
      ...['POST', 'application/json', JSON.parse(body).id],
    ]);
    const docs = readFileSync(new URL('../../../../docs/desk.md', import.meta.url), 'utf8');
    const [, code = ''] = /```js\n(function isFromSpillway[\s\S]*?)```/.exec(docs) ?? [];
    const isFromSpillway: (headers: IncomingHttpHeaders, body: string, secret: string) => boolean = new Function(
      ...['createHmac', 'timingSafeEqual', `${code} return isFromSpillway;`],
    )(createHmac, timingSafeEqual);
    const at = Number(headers['x-spillway-timestamp']);
    const old = String(at - 301);
    const replayed = createHmac('sha256', SECRET).update(`${old}.${body}`).digest('hex');
    expect(isFromSpillway(headers, body, SECRET)).toBe(true);
    for (const [given, text, secret] of [
      [headers, `${body} `, SECRET],
      [headers, body, `${SECRET}x`],
      [{}, body, SECRET],
      [{ ...headers, 'x-spillway-timestamp': String(at + 1) }, body, SECRET],
      [{ 'x-spillway-timestamp': old, 'x-spillway-signature': `sha256=${replayed}` }, body, SECRET],
    ] as const) {
      expect(isFromSpillway(given, text, secret)).toBe(false);
    }
  });

  it.each([
    [204, {}, { ok: true }],
    [500, {}, { ok: false, retryAfter: 0 }],
    [429, { 'Retry-After': '30' }, { ok: false, retryAfter: 30 * Second }],
    [400, {}, { ok: false, isFinal: true }],
    [410, {}, { ok: false, isFinal: true }],
    [302, { Location: 'http://127.0.0.1:1/' }, { ok: false, isFinal: true }],
  ])('that answers %i has the right result', async (status, headers, result) => {
    const { webhook, send } = await useWebhook();
    webhook.answer = { status, headers };
    const words = expect.stringContaining(`It answered ${status}`);
    expect(await send()).toEqual({ ...result, words });
  });
});

describe('an email', () => {
  it('sends the password to this machine, and never unencrypted to another', async () => {
    const login = { user: 'ada%40example.com:p%23ss@', offers: ['AUTH PLAIN'] };
    const local = await useMail(login);
    expect(await local.send()).toMatchObject({ ok: true });
    const [, , sent = ''] = local.server.mails[0]?.auth.split(' ') ?? [];
    expect(Buffer.from(sent, 'base64').toString()).toBe('\0ada@example.com\0p#ss');

    // Asks no name server, which can be slow.
    const resolve = vi.spyOn(Resolver.prototype, 'resolve4');
    onTestFinished(() => resolve.mockRestore());
    resolve.mockImplementation((_name: string, done: unknown) =>
      (done as (error: Error) => void)(Object.assign(new Error('unknown'), { code: NOTFOUND })),
    );
    const other = await useMail({ ...login, host: '127.1' }); // a name for Node, which DNS reads as this machine
    expect(await other.send()).toMatchObject({ ok: false, words: expect.stringContaining('Use smtps') });
    expect(other.server.mails).toEqual([]);
  });
});

it('a webhook on a port that fetch blocks is not tried again', async () => {
  const [target] = createTargets(settingsOf({ webhooks: ['http://127.0.0.1:6667/'] }));
  const words = 'The port of WEBHOOK_URL is one that HTTP clients block. Use another one.';
  expect(await target?.send(messageOf())).toEqual({ ok: false, isFinal: true, words });
});

it('the names of targets contain no secrets, and their ids never change', () => {
  const settings = settingsOf({
    webhooks: ['https://hooks.slack.com/services/T0/B0/canary', 'https://hooks.example.com/canary?canary=1'],
    mail: { smtpUrl: 'smtps://ada:canary@mail.example.com', from: 'x@y.z', to: ['ada@example.com'] },
  });
  const targets = createTargets(settings).map(({ send: _send, ...target }) => target);
  expect(targets).toEqual([
    { id: '9d4f109c472194ed', name: 'Webhook 1 hooks.slack.com' },
    { id: expect.stringMatching(/^[0-9a-f]{16}$/), name: 'Webhook 2 hooks.example.com' },
    { id: expect.stringMatching(/^[0-9a-f]{16}$/), name: 'Mail to ada@example.com' },
  ]);
});
