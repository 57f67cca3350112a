import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { chain, type Step } from '../../../src/server/request/step.ts';

const later: Step = (_req, _res, next) => void setImmediate(next);
const thrower = (): never => {
  throw new Error('out of order');
};

it.each([
  ['immediately', [thrower]],
  ['after a step that continued asynchronously', [later, thrower]],
  ['in the last handler, asynchronously', [later]],
])('an error that a step throws %s is passed to the error handler', async (_when, steps: Step[]) => {
  const req = new IncomingMessage(new Socket());
  const error = await new Promise((resolve) => chain(steps, thrower, resolve)(req, new ServerResponse(req)));
  expect(error).toEqual(new Error('out of order'));
});
