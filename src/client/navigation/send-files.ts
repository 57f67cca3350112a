import { setUploadProgress } from '../../shared/rendering/upload-progress.ts';

interface SendOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData;
  readonly signal: AbortSignal;
}

/** Posts a form as `fetch` does, which cannot tell how much of it was sent. */
export function sendFiles(url: string, { headers, body, signal }: SendOptions): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const encoder = new TextEncoder();
    let passed = 0;
    function fail(reason: unknown): void {
      reject(reason);
      writer.abort(reason).catch(() => {});
    }
    request.open('POST', url);
    for (const name in headers) request.setRequestHeader(name, headers[name] ?? '');
    request.upload.onprogress = ({ loaded, total }) => setUploadProgress(loaded / total);
    request.onreadystatechange = () => {
      if (request.readyState !== XMLHttpRequest.HEADERS_RECEIVED) return;
      const { status } = request;
      const headers = new Headers();
      try {
        for (const [, name = '', value] of request.getAllResponseHeaders().matchAll(/^(.+?): ?(.*)$/gm)) {
          headers.append(name, value ?? '');
        }
        resolve(new Response(status === 204 ? null : readable, { status, headers }));
      } catch (error) {
        fail(error); // A Response cannot have this status.
      }
    };
    request.onprogress = request.onload = ({ type }) => {
      writer.write(encoder.encode(request.responseText.slice(passed))).catch(() => {});
      passed = request.responseText.length;
      if (type === 'load') writer.close().catch(() => {});
    };
    request.onerror = () => fail(new TypeError('Failed to fetch')); // as `fetch` says it
    request.onabort = () => fail(signal.reason);
    request.onloadend = () => setUploadProgress(undefined);
    signal.addEventListener('abort', () => request.abort());
    setUploadProgress(0);
    request.send(body);
  });
}
