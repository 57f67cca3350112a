import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { readBearer, toMayRead } from '../../../../src/server/desk/sign-in/bearer.ts';
import type { Checked } from '../../../../src/server/desk/sign-in/bearer-check.ts';
import { StoreAwayError } from '../../../../src/server/desk/store/sql.ts';
import { RequestInfo, setRequestInfo } from '../../../../src/server/engine/http/request-info.ts';

const TOKEN = '0123456789abcdef';

function ask(authorization: string | undefined): IncomingMessage {
  const req = new IncomingMessage(new Socket());
  if (authorization !== undefined) req.headers.authorization = authorization;
  const address = '192.0.2.1';
  setRequestInfo(req, new RequestInfo({ requestId: 'test', method: 'GET', address, origin: 'http://localhost' }));
  return req;
}

it.each([`Bearer ${TOKEN}`, `bearer  ${TOKEN} `])('reads the token of %j', (header) => {
  expect(readBearer(ask(header))).toBe(TOKEN);
});

it.each([undefined, '', 'Bearer', `Basic ${TOKEN}`, TOKEN, `Bearer ${TOKEN} x`])('reads none of %j', (header) => {
  expect(readBearer(ask(header))).toBeUndefined();
});

it.each<[string, () => Promise<Checked>, unknown]>([
  ['an operator', async () => ({ kind: 'known', operator: { name: 'ada', role: 'operator' } }), true],
  ['a viewer', async () => ({ kind: 'known', operator: { name: 'prometheus', role: 'viewer' } }), true],
  ['a wrong token', async () => ({ kind: 'wrong' }), false],
  ['one wrong token too many', async () => ({ kind: 'too-many', waitMs: 6000 }), { waitMs: 6000 }],
  ['a wrong token while the store is away', () => Promise.reject(new StoreAwayError('away')), false],
])('answers %s', async (_who, check, answer) => {
  const senders: string[] = [];
  const mayRead = toMayRead({
    check: (_token, sender) => {
      senders.push(sender);
      return check();
    },
    toSender: (address) => `hash of ${address}`,
  });
  expect(await mayRead(ask(`Bearer ${TOKEN}`))).toEqual(answer);
  expect(senders).toEqual(['hash of 192.0.2.1']);
  expect(await mayRead(ask(undefined))).toBe(false);
});
