import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** A request to a webhook. */
export interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly method: string;
}

export interface WebhookReceiver {
  readonly url: string;
  /** In the order of arrival, including refused ones. */
  readonly posted: Posted[];
  /** The response to every request from now on. */
  answer: { status: number; headers?: Record<string, string> };
  close(): Promise<void>;
}

/** Starts a local webhook. */
export async function startWebhook(port = 0): Promise<WebhookReceiver> {
  const posted: Posted[] = [];
  const server = createHttpServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => {
      posted.push({ headers: req.headers, body, method: req.method ?? '' });
      res.writeHead(receiver.answer.status, receiver.answer.headers).end('anything');
    });
  });
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${await listen(server, port)}/hook`,
    posted,
    answer: { status: 200 },
    close: () => end(server, () => server.closeAllConnections()),
  };
  return receiver;
}

/** A mail as the mail server received it. */
export interface Mailed {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body, with dot-stuffing undone. */
  readonly data: string;
  /** `AUTH PLAIN …` if the client signed in. */
  readonly auth: string;
}

export interface MailReceiver {
  readonly port: number;
  readonly mails: Mailed[];
  /** The reply to `MAIL FROM` from now on; 250 accepts the mail. */
  answer: string;
  close(): Promise<void>;
}

/** Starts a local mail server that supports as much SMTP as a client needs, without TLS. */
export async function startMailServer(options: { readonly offers?: readonly string[] } = {}): Promise<MailReceiver> {
  const mails: Mailed[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    serveMail(socket, options.offers ?? [], mails, () => receiver.answer);
  });
  const receiver: MailReceiver = {
    port: await listen(server, 0),
    mails,
    answer: '250 OK',
    close: () => end(server, () => sockets.forEach((socket) => void socket.destroy())),
  };
  return receiver;
}

function serveMail(socket: Socket, offers: readonly string[], mails: Mailed[], answer: () => string): void {
  let buffer = '';
  let mail = { from: '', to: [] as string[], auth: '' };
  let isData = false;
  const say = (text: string) => void socket.write(`${text}\r\n`);

  function take(line: string): void {
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'EHLO') say(['250-test', ...offers.map((offer) => `250-${offer}`), '250 8BITMIME'].join('\r\n'));
    else if (verb === 'AUTH') {
      mail.auth = line;
      say('235 in');
    } else if (verb === 'MAIL') {
      mail.from = /<(.*?)>/.exec(line)?.[1] ?? '';
      say(answer());
    } else if (verb === 'RCPT') {
      mail.to.push(/<(.*?)>/.exec(line)?.[1] ?? '');
      say('250 OK');
    } else if (verb === 'DATA') {
      isData = true;
      say('354 go on');
    } else if (verb === 'STAR') say('502 not here');
    else if (verb === 'QUIT') socket.end('221 bye\r\n');
    else say('250 OK');
  }

  function takeData(): void {
    const at = buffer.indexOf('\r\n.\r\n');
    if (at < 0) return;
    mails.push({ ...mail, data: buffer.slice(0, at).replaceAll('\r\n..', '\r\n.') });
    buffer = buffer.slice(at + 5);
    mail = { from: '', to: [], auth: '' };
    isData = false;
    say('250 taken');
  }

  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    buffer += chunk;
    if (isData) takeData();
    for (let at = buffer.indexOf('\r\n'); at >= 0 && !isData; at = buffer.indexOf('\r\n')) {
      const line = buffer.slice(0, at);
      buffer = buffer.slice(at + 2);
      take(line);
      if (isData) takeData();
    }
  });
  say('220 test');
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function end(server: Server, cut: () => void): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    cut();
  });
}
