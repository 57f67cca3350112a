import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { chain, type Step } from '../../../../src/server/engine/request/step.ts';

const req = new IncomingMessage(new Socket());
const res = new ServerResponse(req);
const later: Step = (_req, _res, next) => void setImmediate(next);
const thrower = (): never => {
  throw new Error('out of order');
};

describe('chain', () => {
  it('runs the steps in order, then the last handler', () => {
    const seen: string[] = [];
    const passing = (name: string): Step => {
      return (_req, _res, next) => {
        seen.push(name);
        next();
      };
    };
    chain([passing('a'), passing('b')], () => void seen.push('last'), thrower)(req, res);
    expect(seen).toEqual(['a', 'b', 'last']);
  });

  it('stops at the step that responds', () => {
    const last = vi.fn();
    chain([() => {}], last, thrower)(req, res);
    expect(last).not.toHaveBeenCalled();
  });

  it.each([
    ['immediately', [thrower]],
    ['after a step that continued asynchronously', [later, thrower]],
    ['in the last handler, asynchronously', [later]],
  ])('passes an error to the error handler if it is thrown %s', async (_when, steps: Step[]) => {
    const error = await new Promise((resolve) => {
      chain(steps, thrower, resolve)(req, res);
    });
    expect(error).toEqual(new Error('out of order'));
  });
});
