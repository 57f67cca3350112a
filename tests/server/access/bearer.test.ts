import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import type { Checked } from '../../../src/server/access/check-token.ts';
import { toMayRead } from '../../../src/server/access/check-token.ts';
import { RequestInfo, setRequestInfo } from '../../../src/server/engine/request/request-info.ts';
import { ADA, VERA } from '../../support/people.ts';

const TOKEN = '0123456789abcdef';

function ask(authorization: string | undefined): IncomingMessage {
  const req = new IncomingMessage(new Socket());
  if (authorization !== undefined) req.headers.authorization = authorization;
  const address = '192.0.2.1';
  setRequestInfo(req, new RequestInfo({ requestId: 'test', method: 'GET', address, origin: 'http://localhost' }));
  return req;
}

it.each<[string, Checked, unknown]>([
  ['an operator', { kind: 'known', token: ADA }, true],
  ['a viewer', { kind: 'known', token: VERA }, true],
  ['a wrong token', { kind: 'wrong' }, false],
  ['too many wrong tokens', { kind: 'too-many', waitMs: 6000 }, { waitMs: 6000 }],
])('answers %s', async (_who, checked, answer) => {
  const asked: string[][] = [];
  const mayRead = toMayRead((...args) => {
    asked.push(args);
    return checked;
  });
  expect(await mayRead(ask(`Bearer ${TOKEN}`))).toEqual(answer);
  expect(asked).toEqual([[TOKEN, '192.0.2.1']]);
  expect(await mayRead(ask(undefined))).toBe(false);
});
