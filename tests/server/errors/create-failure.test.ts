import { expect, it } from 'vitest';
import { createFailureMaker, readBodyFields } from '../../../src/server/errors/create-failure.ts';
import { createDigest } from '../../../src/server/errors/digest/create-digest.ts';
import { emptyLocationTable } from '../../../src/server/errors/digest/location-table.ts';
import { readErrors } from '../../../src/server/errors/digest/read-error.ts';
import { createFunnel } from '../../../src/server/errors/funnel.ts';
import { createScrubber } from '../../../src/server/errors/scrub.ts';
import { RequestInfo } from '../../../src/server/request/request-info.ts';
import { spyOnLog } from '../../support/app.ts';

const scrubber = createScrubber();
const facts = { requestId: 'req-1', method: 'GET', address: '::1', origin: 'http://localhost' };
const info = new RequestInfo(facts);
const contextOf = (cookie: string) => ({ origin: 'loader', info, headers: { cookie } }) as const;
const toFailure = createFailureMaker({ build: 'a29092e775f1' }, { scrubber, keep: ['currency', 'note'] });

it('redacts the secrets of the request in every part of an error, and in the stack of the log', () => {
  const error = new Error('No row for session-of-ann', { cause: new Error('key session-of-ann') });
  const context = contextOf('id=session-of-ann');
  const { failure } = toFailure({ error, extra: { looked: ['session-of-ann'] } }, context);
  const { log, lines } = spyOnLog();
  createFunnel(toFailure, { log }).fail(error, context);
  expect(failure.title).toBe('Error: No row for [redacted]');
  expect(lines).toMatchObject([{ stack: expect.stringContaining('No row for [redacted]') }]);
  expect(JSON.stringify([failure, lines])).not.toContain('session-of-ann');
});

it('redacts those of the headers that arrived, if an action has changed the cookies', () => {
  const arrived = new RequestInfo({ ...facts, headers: { cookie: 'id=session-of-ann' } });
  const error = new Error('Ended session-of-ann, began session-of-bob for Bob of Bern');
  const { failure } = toFailure({ error }, { ...contextOf('id="session-of-bob"; who=Bob%20of%20Bern'), info: arrived });
  expect(failure.title).toBe('Error: Ended [redacted], began [redacted] for [redacted]');
});

it('records how a request was made without its values, except listed ones', () => {
  const headers = { cookie: 'sid=session-of-ann; theme=dark', authorization: 'Bearer token-of-ann' };
  const body = {
    ...{ currency: 'CHF', name: 'Ann', note: 'it was session-of-ann', age: 36, none: null },
    ...{ tags: ['Ann'], at: { city: 'Ann' } },
  };
  const { failure } = toFailure({ error: new Error('boom') }, { origin: 'api', info, headers, body });
  expect(failure.request).toMatchObject({
    credentials: ['sid', 'theme', 'authorization'],
    body: {
      fields: {
        ...{ currency: { value: 'CHF' }, name: 'string', note: { value: 'it was [redacted]' }, age: 'number' },
        ...{ none: 'null', tags: { items: ['string'] }, at: { fields: { city: 'string' } } },
      },
    },
  });
  expect(JSON.stringify(failure)).not.toMatch(/of-ann|dark|Ann/);
});

it('records the headers of the request of a reported error', () => {
  const arrived = new RequestInfo({ ...facts, headers: { cookie: 'sid=session-of-ann', accept: 'text/html' } });
  const { failure } = toFailure({ error: new Error('boom') }, { origin: 'report', info: arrived });
  expect(failure.request).toMatchObject({ headers: { accept: 'text/html' }, credentials: ['sid'] });
});

it.each([
  ['EJS', 'ROOT/legacy/views/cart.ejs:3\n    1| <ul>\n >> 3| <%= user.name %>\n\nuser is not defined'],
  ['Pug', 'ROOT/legacy/views/cart.ejs:3:1\n  > 3|     = user.name\n\nuser is not defined\n'],
  ['Nunjucks', '(ROOT/legacy/views/cart.ejs) [Line 3, Column 7]\n  user is not defined'],
])('shows the line of a view of %s, with the same digest as before', (_, message) => {
  const error = new ReferenceError(message.replace('ROOT', process.cwd()));
  const { failure } = toFailure({ error }, { origin: 'step' });
  const paths = { dist: `${process.cwd()}/dist` };
  const before = createDigest(
    { side: 'server', errors: readErrors(error, paths) },
    { namespace: 'spillway', table: emptyLocationTable },
  );
  expect(failure).toMatchObject({
    digest: before.digest,
    title: 'ReferenceError: user is not defined',
    location: { path: 'legacy/views/cart.ejs' },
  });
  expect(failure.errors[0]?.frames[0]).toMatchObject({ file: 'legacy/views/cart.ejs', line: 3 });
});

it.each([
  'ROOT/node_modules/mailer/views/cart.ejs:3\n\nboom',
  '/elsewhere/cart.ejs:3\n\nboom',
  'ROOT/a.ejs:3',
  'No ROOT/a.ejs:3\n',
])('takes no other path in a message for a view: %s', (message) => {
  const error = new Error(message.replace('ROOT', process.cwd()));
  const { failure } = toFailure({ error }, { origin: 'step' });
  expect(failure.location?.path).not.toMatch(/ejs/);
  expect(failure.errors[0]?.frames[0]?.file).not.toMatch(/ejs/);
});

it('leaves no half of a secret, wherever a message is cut', () => {
  const secret = 'quitesecretwithoutanydigit';
  const own = createScrubber().with([secret]);
  const { log, lines } = spyOnLog();
  const toFailure = createFailureMaker({ build: 'b' }, { scrubber: own });
  const { fail } = createFunnel(toFailure, { log });
  for (const length of [170, 190, 230, 240, 280, 295, 2030, 2045]) {
    const error = new Error(`${'a b '.repeat(600).slice(0, length)}${secret} and more`);
    const { failure } = toFailure({ error }, { origin: 'loader' });
    expect(JSON.stringify(failure), String(length)).not.toContain('quite');
    fail(error, { origin: 'loader' });
  }
  expect(lines).toHaveLength(8);
  expect(JSON.stringify(lines)).not.toContain('quite');
});

it.each<[string, { readonly [part in 'info' | 'reported' | 'splitBy']?: unknown }]>([
  ['a tag', { info: { tags: { order: 7, isPaid: true, none: undefined } } }],
  ['a tag of the report', { reported: { tags: { order: Symbol('7') } } }],
  ['words of splitBy', { splitBy: () => [7, undefined] }],
  ['a promise of splitBy', { splitBy: async () => ['late'] }],
  ['a fingerprint', { reported: { fingerprint: 'orders' } }],
  ['a breadcrumb', { info: { trail: [{ at: 0, category: 5 }] } }],
  ['a user', { reported: { user: 7 } }],
  ['a value without text', { info: { tags: { order: Object.create(null) } } }],
])('records a failure whatever the type of %s', (_what, given) => {
  const info = Object.assign(new RequestInfo(facts), given.info);
  const { log, lines } = spyOnLog();
  const maker = createFailureMaker({ build: 'b' }, { scrubber, splitBy: given.splitBy as never });
  const disposition = createFunnel(maker, { log }).fail(new Error('boom'), {
    origin: 'loader',
    info,
    reported: given.reported as never,
  });
  expect(disposition).toMatchObject({ error: { kind: 'failure', status: 500, digest: expect.any(String) } });
  expect(lines.at(-1)).toMatchObject({ title: 'Error: boom' });
});

const read = (body: unknown) => readBodyFields(body, [], scrubber);

it('records forms, with the name of their action', () => {
  const form = new FormData();
  form.append('_action', 'me.save');
  form.append('tag', 'a');
  form.append('tag', 'b');
  form.append('picture', new File(['x'], 'secret.png'));
  expect(read(form)).toEqual({
    fields: { _action: { value: 'me.save' }, tag: { items: ['string', 'string'] }, picture: 'file' },
  });
});

it('records a bounded part of a body, and knows nothing of bodies that are no object', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 50; level += 1) deep = { a: deep };
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f${index}`, index]));
  expect(JSON.stringify(read(deep)).length).toBeLessThan(200);
  expect(JSON.stringify(read(wide)).length).toBeLessThan(2000);
  for (const body of [undefined, null, 'text', Buffer.from('x')]) expect(read(body)).toBeUndefined();
});
