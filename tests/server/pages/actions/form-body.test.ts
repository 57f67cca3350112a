import { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { readForm as readFormOf } from '../../../../src/server/pages/actions/form-body.ts';
import { RequestInfo, setRequestInfo } from '../../../../src/server/request/request-info.ts';

const FORM = 'application/x-www-form-urlencoded';
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
    [
      'a=1&b=%C3%A9&c=100%',
      [
        ['a', '1'],
        ['b', 'é'],
        ['c', '100%'],
      ],
    ], // like browsers, keeps a bare %
    [
      'a[b][c]=1&__proto__=2',
      [
        ['a[b][c]', '1'],
        ['__proto__', '2'],
      ],
    ],
    [Array.from({ length: 1000 }, () => 'a=').join('&'), Array.from({ length: 1000 }, () => ['a', ''])],
  ])('is read, case %#', async (text, fields) => {
    expect([...(await readForm(unread(text, undefined), 100_000))]).toEqual(fields);
  });

  it.each([
    ['a=%ff', 400, FORM],
    ['a=b%00', 400, FORM],
    ['a=b\0', 400, FORM],
    [`${PART.replace('"a"', '"a\0"')}--x--`, 400, 'multipart/form-data; boundary=x'],
    [`${PART.slice(0, -2)}b\0\r\n--x--`, 400, 'multipart/form-data; boundary=x'],
    [Buffer.from(`${PART.slice(0, -2)}\xff\r\n--x--`, 'latin1'), 400, 'multipart/form-data; boundary=x'],
    [
      `${PART.replace('"a"', '"a"\r\nContent-Type: text/plain; charset=utf-16le').slice(0, -2)}b\0\r\n--x--`,
      400,
      'multipart/form-data; boundary=x',
    ],
    [`${PART.replace('"a"', '"a"; filename="\0"')}--x--`, 400, 'multipart/form-data; boundary=x'],
    ['a=%C3%28', 400, FORM],
    [Buffer.from('a=\xc0\xaf', 'latin1'), 400, FORM],
    ['a=1', 415, `${FORM}; charset=utf-16`],
    ['a=1', 415, `${FORM};charset="utf-7"`],
    ['a=&'.repeat(1001), 413, FORM],
    [PART.repeat(1002), 413, 'multipart/form-data; boundary=x'],
    [PART.repeat(1002), 413, 'multipart/form-data; boundary="x"'],
    [PART.repeat(1002), 413, 'multipart/form-data; boundary="\\x"'],
    [PART.repeat(1002), 413, 'multipart/form-data; a=";boundary=y"; boundary=x'],
    [PART.repeat(1002), 413, 'multipart/form-data; BOUNDARY=x; boundary=y'],
    ['a=1', 415, `${FORM}; a=";charset=utf-8"; charset=utf-16`],
    ['--x\r\n', 400, 'multipart/form-data; boundary=x'],
    ['a=1', 400, 'multipart/form-data'],
  ])('is rejected, case %#', async (text, status, type) => {
    await expect(readForm(unread(text, undefined, type), 1e6)).rejects.toMatchObject({ status });
  });

  it('has its fields counted before parsing, which can take seconds for a valid size', async () => {
    await expect(readForm(unread('%ff&'.repeat(1001), undefined), 1e6)).rejects.toMatchObject({ status: 413 });
  });
});
