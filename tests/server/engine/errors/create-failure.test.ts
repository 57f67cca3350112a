import pino from 'pino';
import { expect, it } from 'vitest';
import { createFailureRecorder } from '../../../../src/server/engine/errors/create-failure.ts';
import { createFunnel } from '../../../../src/server/engine/errors/funnel.ts';
import { createScrubber } from '../../../../src/server/engine/errors/scrub.ts';
import { RequestInfo } from '../../../../src/server/engine/request/request-info.ts';

const scrubber = createScrubber();
const info = new RequestInfo({ requestId: 'req-1', method: 'GET', address: '::1', origin: 'http://localhost' });
const contextOf = (cookie: string) => ({ origin: 'loader', info, headers: { cookie } }) as const;

it('redacts the secrets of the request in every part of an error', () => {
  const toFailure = createFailureRecorder({ build: 'b', scrubber });
  const error = new Error('No row for session-of-ann', { cause: new Error('key session-of-ann') });
  const { failure } = toFailure({ error, extra: { looked: ['session-of-ann'] } }, contextOf('id=session-of-ann'));
  expect(JSON.stringify(failure)).not.toContain('session-of-ann');
  expect(failure.title).toBe('Error: No row for [redacted]');
});

it('redacts those of the headers that arrived, if an action has changed the cookies', () => {
  const toFailure = createFailureRecorder({ build: 'b', scrubber });
  const headers = { cookie: 'id=session-of-ann' };
  const arrived = new RequestInfo({ requestId: 'req-1', method: 'POST', address: '::1', origin: 'http://a', headers });
  const error = new Error('Ended session-of-ann, began session-of-bob');
  const { failure } = toFailure({ error }, { ...contextOf('id=session-of-bob'), info: arrived });
  expect(failure.title).toBe('Error: Ended [redacted], began [redacted]');
});

it('keeps the digest, kind and build of a failure even if a cookie contains the same text', () => {
  const toFailure = createFailureRecorder({ build: 'a29092e775f1', scrubber });
  const error = new Error('boom');
  const { failure: before } = toFailure({ error }, contextOf(''));
  const { failure: after } = toFailure(
    { error },
    contextOf(`a=${before.digest}; b=exception; c=a29092e775f1; d=${before.title}`),
  );
  for (const field of ['digest', 'kind', 'build', 'release', 'rule'] as const) expect(after[field]).toBe(before[field]);
});

it('redacts them in the stack of the log, too', () => {
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) });
  const error = new Error('No row for session-of-ann', { cause: new Error('key session-of-ann') });
  createFunnel({ log, build: 'b', scrubber }).fail(error, contextOf('id=session-of-ann'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('No row for [redacted]');
  expect(lines[0]).not.toContain('session-of-ann');
});

it('records how a request was made without its values, except listed ones', () => {
  const toFailure = createFailureRecorder({ build: 'b', scrubber, keep: ['currency', 'note'] });
  const headers = { cookie: 'sid=session-of-ann; theme=dark', authorization: 'Bearer token-of-ann' };
  const body = { currency: 'CHF', name: 'Ann', note: 'it was session-of-ann' };
  const { failure } = toFailure({ error: new Error('boom') }, { origin: 'api', info, headers, body });
  expect(failure.request).toMatchObject({
    credentials: ['sid', 'theme', 'authorization'],
    body: { fields: { currency: { value: 'CHF' }, name: 'string', note: { value: 'it was [redacted]' } } },
  });
  expect(JSON.stringify(failure)).not.toMatch(/of-ann|dark|Ann/);
});
