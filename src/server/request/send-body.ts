import type { ServerResponse } from 'node:http';

/** Sends a whole response that must not be cached. Node leaves out the body of a response to HEAD. */
export function sendBody(
  res: ServerResponse,
  status: number,
  { type, body }: { type: string; body: string | Buffer },
): void {
  res.statusCode = status;
  res.setHeader('Content-Type', type);
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.setHeader('Cache-Control', 'no-store');
  res.end(body);
}

export function sendJson(res: ServerResponse, status: number, value: object): void {
  sendBody(res, status, { type: 'application/json', body: JSON.stringify(value) });
}

export function sendText(res: ServerResponse, status: number, message: string): void {
  sendBody(res, status, { type: 'text/plain; charset=utf-8', body: `${message}\n` });
}
