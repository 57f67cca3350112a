import { expect, it, onTestFinished, vi } from 'vitest';
import { sendFiles } from '../../../src/client/navigation/send-files.ts';

/** Sends a form to a server that answers with this status, these header lines and no body. */
function send(status: number, lines: readonly string[]): Promise<Response> {
  class FakeRequest {
    static readonly HEADERS_RECEIVED = 2;
    readonly readyState = 2;
    readonly status = status;
    readonly responseText = '';
    readonly upload = {};
    onreadystatechange(): void {}
    onload(_event: { type: string }): void {}
    open(): void {}
    setRequestHeader(): void {}
    getAllResponseHeaders(): string {
      return lines.map((line) => `${line}\r\n`).join('');
    }
    async send(): Promise<void> {
      // A browser reports the errors of listeners, and continues.
      await Promise.resolve()
        .then(() => this.onreadystatechange())
        .catch(() => undefined);
      this.onload({ type: 'load' });
    }
  }
  vi.stubGlobal('XMLHttpRequest', FakeRequest);
  onTestFinished(() => void vi.unstubAllGlobals());
  return sendFiles('/', { headers: {}, body: new FormData(), signal: new AbortController().signal });
}

it.each([
  [200, ['a: b', 'a: c: d', 'z: '], 'a=b, c: d; z='],
  [204, ['a: b'], 'a=b'],
  [503, [], ''],
])('a form with files gets a response with status %i and the headers %j', async (status, lines, headers) => {
  const response = await send(status, lines);
  expect([response.status, await response.text()]).toEqual([status, '']);
  expect([...response.headers].map((header) => header.join('=')).join('; ')).toBe(headers);
});

it('a form with files fails if the browser makes no response of the answer', async () => {
  await expect(send(205, [])).rejects.toThrow();
});
