import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { readBearer } from '../../../../src/server/engine/api/auth.ts';

const TOKEN = '0123456789abcdef';

it.each([
  [`Bearer ${TOKEN}`, TOKEN],
  [`bearer  ${TOKEN} `, TOKEN],
  [undefined, undefined],
  ['', undefined],
  ['Bearer', undefined],
  [`Basic ${TOKEN}`, undefined],
  [TOKEN, undefined],
  [`Bearer ${TOKEN} x`, undefined],
])('reads from %j the token %j', (authorization, token) => {
  const request = new IncomingMessage(new Socket());
  if (authorization !== undefined) request.headers.authorization = authorization;
  expect(readBearer(request)).toBe(token);
});
