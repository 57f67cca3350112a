import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createBearerReader, toMayRead } from '../../../../src/server/desk/sign-in/bearer.ts';
import { createOperatorTokens, type OperatorToken } from '../../../../src/server/desk/sign-in/operator-tokens.ts';
import { RequestInfo, setRequestInfo } from '../../../../src/server/engine/http/request-info.ts';

const VIEWER: OperatorToken = { name: 'prometheus', token: '0123456789abcdef', role: 'viewer' };

function ask(authorization: string | undefined, address = '192.0.2.1'): IncomingMessage {
  const req = new IncomingMessage(new Socket());
  if (authorization !== undefined) req.headers.authorization = authorization;
  setRequestInfo(req, new RequestInfo({ requestId: 'test', method: 'GET', address, origin: 'http://localhost' }));
  return req;
}

function createReader() {
  const clock = { ms: 0 };
  return { clock, read: createBearerReader(createOperatorTokens([VIEWER]), () => clock.ms) };
}

it.each([['Bearer 0123456789abcdef'], ['bearer  0123456789abcdef ']])('knows the holder of a token by %j', (header) => {
  expect(createReader().read(ask(header))).toEqual(VIEWER);
  expect(toMayRead([VIEWER])(ask(header))).toBe(true);
});

it.each([
  [undefined],
  [''],
  ['Bearer'],
  ['Bearer 0123456789abcdeg'],
  ['Basic 0123456789abcdef'],
  ['0123456789abcdef'],
  ['Bearer 0123456789abcdef x'],
])('knows nobody by %j', (header) => {
  expect(createReader().read(ask(header))).toBeUndefined();
  expect(toMayRead([VIEWER])(ask(header))).toBe(false);
  expect(toMayRead([])(ask(header))).toBe(false);
});

it('looks at no further token of an address that brought many wrong ones, the right one neither', () => {
  const { read, clock } = createReader();
  const wrong = () => read(ask('Bearer wrong-wrong-wrong-wrong'));
  const answers = Array.from({ length: 20 }, wrong);
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(10);
  expect(read(ask(`Bearer ${VIEWER.token}`))).toEqual({ waitMs: 6000 });
  expect(read(ask(`Bearer ${VIEWER.token}`, '192.0.2.2'))).toEqual(VIEWER);
  clock.ms += 6001;
  expect(read(ask(`Bearer ${VIEWER.token}`))).toEqual(VIEWER);
});

it('counts no right token', () => {
  const { read } = createReader();
  const answers = Array.from({ length: 100 }, () => read(ask(`Bearer ${VIEWER.token}`)));
  expect(answers.every((answer) => answer === answers[0])).toBe(true);
});
