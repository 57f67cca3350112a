import express from 'express';
import request from 'supertest';
import { expect, it } from 'vitest';
import { toClientAddress } from '../../../src/server/request/client-address.ts';
import { createProxyTrust } from '../../../src/server/request/proxy-trust.ts';

it.each([
  [0, '6.6.6.6', '127.0.0.1'],
  [1, '6.6.6.6', '6.6.6.6'],
  [1, 'forged, 6.6.6.6', '6.6.6.6'],
  [2, '6.6.6.6, 10.0.0.1', '6.6.6.6'],
  [['loopback'], '6.6.6.6, 7.7.7.7', '7.7.7.7'],
  [['loopback', '10.0.0.0/8'], '6.6.6.6, 7.7.7.7, 10.1.2.3', '7.7.7.7'],
  [['192.0.2.1'], '6.6.6.6', '127.0.0.1'],
])(
  'with trust %j and X-Forwarded-For "%s" finds the address %s, as Express does',
  async (trusted, forwarded, address) => {
    const trust = createProxyTrust(trusted);
    const app = express().set('trust proxy', trust);
    app.get('/', (req, res) => void res.json([toClientAddress(req, trust), req.ip]));
    const reply = await request(app).get('/').set('X-Forwarded-For', forwarded);
    expect(reply.body.map((text: string) => text.replace('::ffff:', ''))).toEqual([address, address]);
  },
);

it.each([
  ['<script>, "x"', '127.0.0.1'],
  ['6.6.6.6:51234, 7.7.7.7:443', '6.6.6.6'],
  ['[2001:db8::7]:51234', '2001:db8::7'],
])('ignores in %s what is not an address, such as the ports that Azure adds', async (forwarded, address) => {
  const trust = createProxyTrust(3);
  const app = express().get('/', (req, res) => void res.json(toClientAddress(req, trust)));
  const reply = await request(app).get('/').set('X-Forwarded-For', forwarded);
  expect(reply.body.replace('::ffff:', '')).toBe(address);
});
