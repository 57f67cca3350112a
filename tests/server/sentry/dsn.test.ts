import { expect, it } from 'vitest';
import { parseDsn } from '../../../src/server/sentry/dsn.ts';

it.each([
  ['https://abc@o1.ingest.example/42', 'https://o1.ingest.example/api/42/envelope/'],
  ['http://abc:old@127.0.0.1:9000/sub/path/42', 'http://127.0.0.1:9000/sub/path/api/42/envelope/'],
])('%s is posted to %s', (text, endpoint) => {
  const dsn = parseDsn(text);
  expect(dsn?.endpoint.href).toBe(endpoint);
  expect(dsn?.publicKey).toBe('abc');
  expect(dsn?.projectId).toBe('42');
});

it('drops an old secret key', () => {
  expect(parseDsn('https://abc:secret@x.example/a/1')?.text).toBe('https://abc@x.example/a/1');
});

it.each([
  '',
  'abc',
  'https://x.example/1',
  'https://abc@x.example/',
  'https://abc@x.example',
  'ftp://abc@x.example/1',
  'https://abc@x.example/1?x=1',
  'https://abc@x.example/1#x',
  'https://a%0Ab@x.example/1',
  'https://abc@x.example/../1/%2e',
])('rejects %j', (text) => {
  expect(parseDsn(text)).toBeUndefined();
});
