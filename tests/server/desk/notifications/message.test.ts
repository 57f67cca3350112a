import { describe, expect, it } from 'vitest';
import { defuse } from '../../../../src/server/desk/notifications/defuse.ts';
import { type Message, toMessage, toTestMessage } from '../../../../src/server/desk/notifications/message.ts';
import { toMail } from '../../../../src/server/desk/notifications/to-mail.ts';
import { toJsonBody, toSlackBody } from '../../../../src/server/desk/notifications/to-webhook.ts';
import type { StoredFailure } from '../../../../src/server/desk/store/records.ts';
import { createFailure } from '../../../support/desk.ts';
import { claimedOf, incidentOf } from '../../../support/notices.ts';

const facts = { environment: 'production', hasOthers: false, deskOrigin: 'https://desk.example.com' };
const full: StoredFailure = {
  ...createFailure(),
  resolved: [[{ file: 'src/server/product/pages/cart.ts', line: 41, column: 3, function: 'load', own: true }]],
};
const now = Date.UTC(2026, 10, 21, 20, 32, 0);
const json = (message: Message) => JSON.parse(toJsonBody(message, now));
const slack = (message: Message) =>
  JSON.parse(toSlackBody(message)) as { text: string; blocks: { text: { text: string; verbatim: boolean } }[] };

describe('a message', () => {
  it('says what happened, why, where, how often and in which release, and links to it', () => {
    expect(json(toMessage(claimedOf(), whole, facts))).toEqual({
      id: '0123456789abcdef',
      event: 'incident.new',
      at: '2026-11-21T20:32:00.000Z',
      environment: 'production',
      why: 'New incident, first seen in release v1.',
      link: 'https://desk.example.com/desk/7K3QM2XA',
      incident: {
        digest: '7K3QM2XA',
        title: 'TypeError: boom',
        kind: 'exception',
        state: 'open',
        route: '/orders/:id',
        function: 'load',
        file: 'src/server/product/pages/cart.ts',
        line: 41,
        counts: { server: 1200, browser: 3 },
        visitors: 7,
        firstAt: '2026-11-21T20:00:00.000Z',
        lastAt: '2026-11-21T20:31:07.000Z',
        firstRelease: 'v1',
        lastRelease: 'v2',
      },
    });
  });

  it('sums up a day, with titles that are neither markup nor links', () => {
    const most = [{ digest: '7K3QM2XA', title: '<b>boom</b> https://evil.example', count: 12 }];
    const day = { incidents: 11, fresh: 2, returned: 1, most };
    const message = toMessage(
      { notification: { ...claimedOf().notification, kind: 'daily', detail: { day } }, isLast: false },
      undefined,
      facts,
    );
    const { subject, text, html } = toMail(message);
    expect(subject).toBe('[production] Daily summary');
    expect(text).toContain('In the last 24 hours, 11 open incidents happened: 2 new, 1 regression.');
    expect(text.replaceAll('\u200B', '')).toContain(
      '12 times, <b>boom</b> https://evil.example: https://desk.example.com/desk/7K3QM2XA',
    );
    expect(text).not.toContain('https://evil');
    expect(html).toContain('&lt;b&gt;boom&lt;/b&gt;');
    expect(html).toContain('<a href="https://desk.example.com/desk/7K3QM2XA">7K3QM2XA</a>');
  });

  it('has the same content in Slack and in an email', () => {
    const message = toMessage(claimedOf(), whole, facts);
    const { text, blocks } = slack(message);
    const mail = toMail(message);
    expect(mail.subject).toBe('[production] New: TypeError: boom');
    for (const said of [text, blocks.map((block) => block.text.text).join('\n'), mail.text, mail.html]) {
      const plain = said.replaceAll('\u200B', '');
      expect(plain).toContain('TypeError: boom');
      expect(plain).toContain('New incident, first seen in release v1.');
      expect(plain).toContain('/orders/:id · load() · src/server/product/pages/cart.ts:41');
      expect(plain).toContain('1,200 on the server, 3 on the browser; 7 visitors');
      expect(plain).toContain('v1 to v2');
      expect(said).toContain('https://desk.example.com/desk/7K3QM2XA');
    }
    expect(text).toContain('<https://desk.example.com/desk/7K3QM2XA|Open in the desk>');
    expect(mail.html).toContain('<a href="https://desk.example.com/desk/7K3QM2XA">Open in the desk</a>');
  });

  it.each([
    [{ kind: 'regressed' }, 'It came back after it was resolved, in release v2.'],
    [{ kind: 'assigned', detail: { by: 'grace', to: 'ada' } }, 'grace assigned it to ada.'],
    [
      { kind: 'storming', detail: { count: 1200, most: 4 } },
      'It happened 1,200 times this hour so far. The busiest of the 24 hours before had 4.',
    ],
    [
      { kind: 'storming', detail: { count: 100, most: 0 } },
      'It happened 100 times this hour so far. It did not happen in the 24 hours before.',
    ],
    [
      { kind: 'storming', detail: { wasIgnored: true } },
      'It exceeded the limit that it was ignored for, and is open again.',
    ],
  ] as const)('gives the reason: %o', (notification, why) => {
    const incident = incidentOf({ regressed: { at: now, release: 'v2' } });
    const message = toMessage(claimedOf(notification, { incident }), undefined, facts);
    expect(message.why).toBe(why);
    expect(json(message)).toMatchObject({
      event: `incident.${notification.kind}`,
      incident: { state: 'regression', file: 'src/server/product/pages/cart.ts' },
    });
  });

  it('is a summary of the notifications that it replaces', () => {
    const notifications = [claimedOf({ kind: 'regressed', digest: '00000002' }).notification, claimedOf().notification];
    const message = toMessage(
      claimedOf({ kind: 'summary' }, { summed: { notifications, count: 18 } }),
      undefined,
      facts,
    );
    expect(message.why).toMatch(/^18 further messages were combined into this summary/);
    expect(json(message)).toMatchObject({
      event: 'summary',
      incidents: [
        { why: 'Regression', digest: '00000002', link: 'https://desk.example.com/desk/00000002' },
        { why: 'New', digest: '7K3QM2XA' },
      ],
    });
    expect(slack(message).text).toContain('Regression: <https://desk.example.com/desk/00000002|00000002>');
    expect(toMail(message).html).toContain('<a href="https://desk.example.com/desk/00000002">00000002</a>');
    expect(toMail(message).subject).toBe('[production] Summary');
  });

  it('says if it is the last one this hour, and if it is a test', () => {
    expect(json(toMessage(claimedOf({}, { isLast: true }), undefined, facts)).note).toContain('one summary');
    expect(toMail(toTestMessage('x', facts)).text).toContain('https://desk.example.com/desk/notifications');
  });

  it('contains no link if the origin of the desk is not known', () => {
    const message = toMessage(claimedOf(), undefined, { ...facts, deskOrigin: undefined });
    expect(slack(message).text).toContain('Open in the desk: /desk/7K3QM2XA');
    expect(toMail(message).html).toContain('Open in the desk: /desk/7K3QM2XA');
    expect(toMail(message).html).not.toContain('<a');
  });
});

describe('text from a stranger', () => {
  const ATTACKS = [
    '<!channel> look <@U123> <https://evil.example|the desk>',
    '@here @channel @all <!here|here>',
    '[the desk](https://evil.example) ![x](http://evil.example/x.png)',
    'https://evil.example/login www.evil.example evil.example/login mailto:eve@evil.example',
    '<a href="https://evil.example">x</a><img src=x onerror=alert(1)><script>1</script>"\'&amp;',
    '</td></table><a href=//evil.example>x',
    '*bold* `code` ~gone~ > quote\r\nBcc: eve@evil.example\r\n\r\nbody',
    'x\u202Elmth.evil\u2066 \u200Bhttps:\u200B//evil.example\u0000\u001b[31m',
    '|> <x|y> &lt;!channel&gt;',
  ];
  const everywhere = (text: string) =>
    toMessage(
      claimedOf(
        {},
        {
          incident: incidentOf({
            title: text,
            message: text,
            route: text,
            site: { path: text, function: text, detail: text },
            firstRelease: text,
            lastRelease: text,
          }),
        },
      ),
      undefined,
      facts,
    );
  /** Text that mail and chat programs turn into a link or a mention. */
  const SELF_MADE = /:\/\/|\bwww\.\w|mailto:|@(?:here|channel|all|\w)|\]\(|evil\.example/i;

  it.each(ATTACKS)('is not a link, mention or format in Slack: %s', (attack) => {
    const body = slack(everywhere(attack));
    const own = /<https:\/\/desk\.example\.com\/desk\/7K3QM2XA\|Open in the desk>/g;
    for (const text of [body.text, ...body.blocks.map((block) => block.text.text)]) {
      const rest = text.replace(own, '');
      expect(rest).not.toMatch(/[<>]/);
      expect(rest).not.toMatch(SELF_MADE);
      expect(rest.replace(/&(?:amp|lt|gt);/g, '')).not.toContain('&');
      expect(rest).not.toContain('`');
      expect(rest.replace(/^\*[\w ]+:?\*/gm, '')).not.toContain('*');
    }
    expect(body.blocks.every((block) => block.text.verbatim)).toBe(true);
  });

  it.each(ATTACKS)('is not markup, a link or a header in an email: %s', (attack) => {
    const { subject, text, html } = toMail(everywhere(attack));
    const own = '<a href="https://desk.example.com/desk/7K3QM2XA">Open in the desk</a>';
    expect(html.split(own)).toHaveLength(2);
    const tags = html.replace(own, '').match(/<[^>]*>/g) ?? [];
    expect(
      tags.filter(
        (tag) =>
          !/^<(?:!doctype html|html lang="en"|table cellpadding="2"|th align="left" valign="top"|\/?(?:html|body|p|strong|br|table|tr|th|td))>$/.test(
            tag,
          ),
      ),
    ).toEqual([]);
    expect(html.replace(own, '')).not.toMatch(SELF_MADE);
    expect(text.replace('https://desk.example.com/desk/7K3QM2XA', '')).not.toMatch(SELF_MADE);
    expect(subject).not.toMatch(/\p{Cc}|\u202E/u);
    expect(subject.length).toBeLessThan(250);
    // A new line could look like part of our text.
    expect(text.split('\n')).toHaveLength(toMail(everywhere('plain')).text.split('\n').length);
  });

  it.each(ATTACKS)('stays the same string in JSON: %s', (attack) => {
    expect(json(everywhere(attack)).incident.title).toBe(attack);
  });

  it('is shortened', () => {
    expect(defuse('x'.repeat(1000))).toHaveLength(250);
    expect(toMail(everywhere('y'.repeat(1000))).subject).toHaveLength(140);
    expect(defuse(`${'x'.repeat(248)}\u{1F600}y`)).toBe(`${'x'.repeat(248)}\uFFFD…`);
  });

  it('stays readable', () => {
    const title = 'TypeError: Cannot read properties of undefined (reading "a.b") at @scope/pkg';
    expect(defuse(title).replaceAll('\u200B', '')).toBe(title);
  });
});
