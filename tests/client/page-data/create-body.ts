/** A response body that the test writes. */
export function createBody() {
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      stream = controller;
    },
  });
  return {
    body,
    write: (text: string | Uint8Array) =>
      stream?.enqueue(typeof text === 'string' ? new TextEncoder().encode(text) : text),
    end: () => stream?.close(),
    lose: (error: Error) => stream?.error(error),
  };
}
