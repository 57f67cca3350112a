import express from 'express';
import request from 'supertest';
import { expect, it } from 'vitest';
import { formBody, jsonBody } from '../../../src/server/api/body-parsers.ts';
import { KiB } from '../../../src/shared/units.ts';
import { createTestApp, startTestServer } from '../../support/app.ts';
import { openSocket, parseReply } from '../../support/raw-http.ts';
import { until } from '../../support/until.ts';

const FORM = 'application/x-www-form-urlencoded';

const api = express
  .Router()
  .post('/json', ...jsonBody(), (req, res) => void res.json(req.body))
  .post('/form', ...formBody(), (req, res) => void res.json(req.body))
  .post('/twice', express.json(), ...jsonBody(), (req, res) => void res.json(req.body))
  .post('/raw', express.raw({ type: () => true }), ...jsonBody(), (req, res) => void res.json(req.body));

function post(path: string, type: string, body: string | Buffer) {
  return request(createTestApp({ api }))
    .post(path)
    .set('Content-Type', type)
    .serialize((given: unknown) => given as string)
    .send(body as string);
}

it('a JSON body that a step has already read is used as it is, or parsed if it is a Buffer', async () => {
  expect((await post('/api/twice', 'application/json', '{"a":1}').expect(200)).body).toEqual({ a: 1 });
  expect((await post('/api/raw', 'application/json', '{"a":1}').expect(200)).body).toEqual({ a: 1 });
  await post('/api/raw', 'application/json', '{"a":1,"a":2}').expect(400);
});

it.each([
  ['/api/json', 'application/json'],
  ['/api/form', FORM],
])('unfinished bodies at %s have the share of their sender, like all others', async (path, type) => {
  const { port } = await startTestServer({ api });
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: ${100 * KiB}\r\n\r\n`;
  const bodies = Array.from({ length: 187 }, () => openSocket(port, head + ' '.repeat(99 * KiB)));
  const refused = () => bodies.flatMap(({ text }) => (text === '' ? [] : [parseReply(text).status]));
  await until(() => refused().length >= 20, 'the bodies beyond the share', 60_000);
  expect(new Set(refused())).toEqual(new Set([429]));
});
