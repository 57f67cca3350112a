import { expect, it } from 'vitest';
import { DESK_EXPOSURE_CHECKS, type DeskFacts } from '../../../../src/server/doctor/desk/check-desk.ts';

const facts: DeskFacts = { deskApi: { status: 401, headers: {} }, deskPages: [], forgedPages: [] };

it('reports a desk that visitors can read', () => {
  const judgeDesk = (deskApi: DeskFacts['deskApi'], deskPages: DeskFacts['deskPages']) =>
    DESK_EXPOSURE_CHECKS.Desk({ ...facts, deskApi, deskPages });
  const json = { 'content-type': 'application/json; charset=utf-8' };
  const closed = [{ status: 401, headers: { 'x-robots-tag': 'noindex, nofollow' } }];
  const open = [{ status: 200, headers: { 'x-robots-tag': 'noindex, nofollow' } }];
  expect(judgeDesk({ status: 401, headers: json }, closed).mark).toBe('ok');
  expect(judgeDesk({ status: 200, headers: { 'content-type': 'text/html' } }, closed).mark).toBe('ok');
  expect(judgeDesk({ status: 200, headers: json }, closed).mark).toBe('wrong');
  expect(judgeDesk({ status: 401, headers: json }, open).mark).toBe('wrong');
  // A page of the product.
  expect(judgeDesk({ status: 404, headers: {} }, [{ status: 200, headers: {} }]).mark).toBe('ok');
});

it('reports a site that trusts a name sent by a visitor', () => {
  const judgeForgedName = (deskPages: DeskFacts['deskPages'], forgedPages: DeskFacts['forgedPages']) =>
    DESK_EXPOSURE_CHECKS['Forged sign-in']({ ...facts, deskPages, forgedPages });
  const closed = { status: 401, headers: {} };
  const open = { status: 200, headers: { 'x-robots-tag': 'noindex, nofollow' } };
  expect(judgeForgedName([closed, closed], [closed, closed]).mark).toBe('ok');
  expect(judgeForgedName([closed, closed], [closed, open])).toMatchObject({
    mark: 'wrong',
    found: expect.stringMatching(/: \/desk\/_data\.$/),
  });
  expect(judgeForgedName([open, open], [open, open]).mark).toBe('unknown');
});
