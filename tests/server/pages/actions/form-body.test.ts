import { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { readForm as readFormOf } from '../../../../src/server/pages/actions/form-body.ts';
import { RequestInfo, setRequestInfo } from '../../../../src/server/request/request-info.ts';

const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=x';
const PART = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n';

async function readForm(request: Request, limit: number) {
  setRequestInfo(request, new RequestInfo({ requestId: '1', method: 'POST', address: '::1', origin: 'http://a' }));
  const response = new ServerResponse(request) as Response;
  const { form } = await readFormOf({ request, response, limit });
  return form;
}

/** A request with an unread body, and the `body` that a parser has set on it. */
function unread(text: string | Buffer, body: unknown, type = FORM): Request {
  return Object.assign(Readable.from([Buffer.from(text as string)]), {
    headers: { 'content-type': type },
    body,
  }) as unknown as Request;
}

it('a form is read from the stream if a parser skipped it and set an empty object', async () => {
  expect([...(await readForm(unread('a=1', {}), 1000))]).toEqual([['a', '1']]);
});

describe('a form as the browser sends it', () => {
  it.each([
    ['any character', 'a=1&b=%C3%A9', 'a 1, b é'],
    ['a bare %, which browsers send', 'c=100%', 'c 100%'],
    ['brackets and the names of prototypes', 'a[b][c]=1&__proto__=2', 'a[b][c] 1, __proto__ 2'],
    ['1,000 fields', Array(1000).fill('a=').join('&'), Array(1000).fill('a ').join(', ')],
  ])('is read with %s', async (_what, text, fields) => {
    const read = [...(await readForm(unread(text, undefined), 100_000))];
    expect(read.map((field) => field.join(' ')).join(', ')).toBe(fields);
  });

  const QUOTED = [' boundary="x"', ' boundary="\\x"', ' a=";boundary=y"; boundary=x', ' BOUNDARY=x; boundary=y'];
  it.each<[what: string, status: number, type: string, ...texts: (string | Buffer)[]]>([
    ['characters that are not UTF-8', 400, FORM, 'a=%ff', 'a=%C3%28', Buffer.from('a=\xc0\xaf', 'latin1')],
    ['the character 0', 400, FORM, 'a=b%00', 'a=b\0'],
    [
      'the character 0 in a part',
      400,
      MULTIPART,
      `${PART.replace('"a"', '"a\0"')}--x--`,
      `${PART.slice(0, -2)}b\0\r\n--x--`,
      `${PART.replace('"a"', '"a"\r\nContent-Type: text/plain; charset=utf-16le').slice(0, -2)}b\0\r\n--x--`,
      `${PART.replace('"a"', '"a"; filename="\0"')}--x--`,
    ],
    ['a part that is not UTF-8', 400, MULTIPART, Buffer.from(`${PART.slice(0, -2)}\xff\r\n--x--`, 'latin1')],
    ['a part without an end', 400, MULTIPART, '--x\r\n'],
    ['no boundary', 400, 'multipart/form-data', 'a=1'],
    ...[' charset=utf-16', 'charset="utf-7"', ' a=";charset=utf-8"; charset=utf-16'].map(
      (given): [string, number, string, string] => ['another encoding', 415, `${FORM};${given}`, 'a=1'],
    ),
    // They are counted before parsing, which can take seconds for a valid size.
    ['too many fields', 413, FORM, 'a=&'.repeat(1001), '%ff&'.repeat(1001)],
    ...[' boundary=x', ...QUOTED].map((given): [string, number, string, string] => [
      'too many parts',
      413,
      `multipart/form-data;${given}`,
      PART.repeat(1002),
    ]),
  ])('is rejected with %s: %d for %s', async (_what, status, type, ...texts) => {
    for (const text of texts) {
      await expect(readForm(unread(text, undefined, type), 1e6), String(text)).rejects.toMatchObject({ status });
    }
  });
});
