import { expect, it } from 'vitest';
import { createScrubber } from '../../../../src/server/errors/scrub.ts';

const scrubber = createScrubber();

it.each([
  ['password:     x1y2', 'password:     [redacted]'],
  ['password =    x1y2', 'password =    [redacted]'],
  ['{\n  "password":\n    "x1y2"\n}', '{\n  "password":\n    "[redacted]"\n}'],
  ["headers: [ 'x-api-key', 'x1y2', 'accept', '*' ]", "headers: [ 'x-api-key', '[redacted]', 'accept', '*' ]"],
  [
    "rawHeaders: [\n  'Host', 'x',\n  'Cookie', 'a=x1y2' ]",
    "rawHeaders: [\n  'Host', 'x',\n  'Cookie', '[redacted]' ]",
  ],
  ['"[[\\"token\\",\\"x\\\\\\"1\\"],[\\"n\\",\\"1\\"]]"', '"[[\\"token\\",\\"[redacted]\\"],[\\"n\\",\\"1\\"]]"'],
  ["[ 'token', 'x1y2 that was cut", "[ 'token', '[redacted]"],
  ["{ name: 'password', value: 'x1y2' }", "{ name: 'password', value: '[redacted]' }"],
  ['{"key":"api_key","value":"x1y2"}', '{"key":"api_key","value":"[redacted]"}'],
  ['<input name="token" value="x1y2">', '<input name="token" value="[redacted]">'],
  ['form-data; name="password"\r\n\r\nx1y2\r\n--a', 'form-data; name="password"\r\n\r\n[redacted]\r\n--a'],
  ['<wsse:Password Type="x">x1y2</wsse:Password>', '<wsse:Password Type="x">[redacted]</wsse:Password>'],
  ['body was password%3Dx1y2%26a%3Db', 'body was password%3D[redacted]%26a%3Db'],
  ['%7B%22password%22%3A%22x1y2%22%2C%22n%22%3A1%7D', '%7B%22password%22%3A%22[redacted]%22%2C%22n%22%3A1%7D'],
  ["Duplicate entry 'x1y2' for key 'sessions.token'", "Duplicate entry '[redacted]' for key 'sessions.token'"],
  ['Key (email, token)=(a, x1y2) already exists.', 'Key (email, token)=([redacted]) already exists.'],
])('redacts the secret in %j', (text, expected) => {
  expect(scrubber.text(text)).toBe(expected);
  expect(scrubber.text(expected)).toBe(expected);
});

it.each([
  'Wrong password:\n    at signIn (server/main.js:1:2)',
  'insert into "user" ("id", "token", "name") values ($1, $2, $3)',
  "expected one of 'token', 'user'",
  "path: [ 'user', 'password' ]",
  "Unknown names: [ 'token', 'user', 'card' ]",
  "required: [ 'session', 'user' ]",
  '<div><ByToken wrong={wrong} /> text</div>',
  "{ type: 'name', value: 'token' }",
  '<Auth>\n</Auth>',
  "Duplicate entry '17' for key 'orders.PRIMARY'",
  'Key (order_id)=(17) is not present in table "orders".',
  'a%3Db%26c%3Dd',
])('does not change %j', (text) => {
  expect(scrubber.text(text)).toBe(text);
});
