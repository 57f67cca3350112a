import express from 'express';
import helmet from 'helmet';
import request from 'supertest';
import { expect, it } from 'vitest';
import { createTestApp } from '../../../support/app.ts';

it('are those that helmet sends, apart from the ones that are ours to decide', async () => {
  const app = express()
    .use(helmet())
    .get('/', (_req, res) => void res.send('x'));
  const theirs = (await request(app).get('/')).headers;
  const ours = (await request(createTestApp()).get('/')).headers;
  const decided = new Set([
    'content-security-policy',
    'strict-transport-security',
    'referrer-policy',
    'x-frame-options',
  ]);
  const plain = new Set(['date', 'connection', 'etag', 'content-length', 'content-type', 'keep-alive', 'x-powered-by']);
  for (const [name, value] of Object.entries(theirs)) {
    if (!decided.has(name) && !plain.has(name)) expect([name, ours[name]]).toEqual([name, value]);
  }
  expect(ours['referrer-policy']).toBe('strict-origin-when-cross-origin');
  expect(ours['permissions-policy']).toContain('camera=()');
});
