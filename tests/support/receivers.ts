import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { listen } from './listen.ts';

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhook>>;

/** Starts a local webhook. */
export async function startWebhook() {
  /** In the order of arrival, including refused ones. */
  const posted: { readonly headers: IncomingHttpHeaders; readonly body: string; readonly method: string }[] = [];
  const server = createHttpServer(async (req, res) => {
    posted.push({ headers: req.headers, method: req.method ?? '', body: await text(req) });
    res.writeHead(receiver.answer.status, receiver.answer.headers).end('anything');
  });
  const receiver = {
    url: `http://127.0.0.1:${await listen(server)}/hook`,
    posted,
    /** The response to every request from now on. */
    answer: { status: 200 } as { status: number; headers?: Record<string, string> },
    close: () => end(server, () => server.closeAllConnections()),
  };
  return receiver;
}

/** A mail as the mail server received it: `data` has headers and body, `auth` is `AUTH PLAIN …` if the client signed in. */
export type Mailed = Readonly<ReturnType<typeof createMail>>;

export type MailReceiver = Awaited<ReturnType<typeof startMailServer>>;

/** Starts a local mail server that supports as much SMTP as a client needs, without TLS. */
export async function startMailServer({ offers = [] as readonly string[] } = {}) {
  const mails: Mailed[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    serveMail(socket, offers, mails, () => receiver.answer);
  });
  const receiver = {
    port: await listen(server),
    mails,
    /** The reply to `MAIL FROM` from now on; 250 accepts the mail. */
    answer: '250 OK',
    close: () => end(server, () => sockets.forEach((socket) => void socket.destroy())),
  };
  return receiver;
}

const createMail = () => ({ data: '', auth: '' });

function serveMail(socket: Socket, offers: readonly string[], mails: Mailed[], answer: () => string): void {
  const say = (reply: string) => void socket.write(`${reply}\r\n`);
  const replies: Readonly<Record<string, () => string>> = {
    EHLO: () => ['250-test', ...offers.map((offer) => `250-${offer}`), '250 8BITMIME'].join('\r\n'),
    AUTH: () => '235 in',
    MAIL: answer,
    DATA: () => '354 go on',
    STAR: () => '502 not here',
    QUIT: () => '221 bye',
  };
  let mail = createMail();
  let data: string[] | undefined;
  createInterface({ input: socket }).on('line', (line) => {
    if (data && line !== '.') return void data.push(line.replace(/^\.\./, '.'));
    if (data) {
      mails.push({ ...mail, data: data.join('\r\n') });
      [mail, data] = [createMail(), undefined];
      return say('250 taken');
    }
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'AUTH') mail.auth = line;
    if (verb === 'DATA') data = [];
    say(replies[verb]?.() ?? '250 OK');
    if (verb === 'QUIT') socket.end();
  });
  say('220 test');
}

function end(server: Server, cut: () => void): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    cut();
  });
}
