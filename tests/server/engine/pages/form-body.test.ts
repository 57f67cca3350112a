import { Readable } from 'node:stream';
import type { Request } from 'express';
import { describe, expect, it } from 'vitest';
import { readForm } from '../../../../src/server/engine/pages/form-body.ts';

const FORM = 'application/x-www-form-urlencoded';

/** A request whose body is still to be read, beside what a parser has put on it. */
function unread(text: string, body: unknown): Request {
  return Object.assign(Readable.from([Buffer.from(text)]), {
    headers: { 'content-type': FORM },
    body,
  }) as unknown as Request;
}

async function read(text: string, body: unknown): Promise<Request> {
  const request = unread(text, body);
  for await (const _ of request);
  return request;
}

describe('a form that a step has parsed', () => {
  it('has its fields as they were sent, nested ones too', async () => {
    const request = await read('…', { name: 'Ada', tags: ['a', 'b'], address: { city: 'Rome', lines: ['1', '2'] } });
    expect([...(await readForm(request, 1000))]).toEqual([
      ['name', 'Ada'],
      ['tags', 'a'],
      ['tags', 'b'],
      ['address[city]', 'Rome'],
      ['address[lines]', '1'],
      ['address[lines]', '2'],
    ]);
  });

  it('is empty where it was sent empty', async () => {
    expect([...(await readForm(await read('', {}), 1000))]).toEqual([]);
  });

  it('is read where the parser left it alone and put an empty object there', async () => {
    expect([...(await readForm(unread('a=1', {}), 1000))]).toEqual([['a', '1']]);
  });
});
