import { expect, it, onTestFinished } from 'vitest';
import { createSendMail, type Mail } from '../../../src/server/mail/send-mail.ts';
import { startMailServer } from '../../support/receivers.ts';

/** Sends a mail with these headers. @returns the mail as it arrived */
async function send(headers: NonNullable<Mail['headers']>) {
  const server = await startMailServer();
  onTestFinished(() => server.close());
  const sendMail = createSendMail({ smtpUrl: `smtp://127.0.0.1:${server.port}`, from: 'weir@example.com' });
  await sendMail({ uid: '1', to: ['ada@example.com'], subject: 'News', text: 'The lake is full.', headers });
  return server.mails[0]?.data.replaceAll('\r\n ', ' ') ?? ''; // long lines are folded
}

it('sends headers, such as those with which a mailbox unsubscribes', async () => {
  const link = `https://weir.example/unsubscribe?token=${'a'.repeat(200)}`;
  const mail = await send({
    'List-Unsubscribe': `<${link}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  });
  const lines = mail.split('\r\n');
  expect(lines).toContain(`List-Unsubscribe: <${link}>`);
  expect(lines).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
  expect(lines).toContain('Auto-Submitted: auto-generated');
});

it.each([
  ['a line break in a value', { 'X-Note': 'a\r\nBcc: eve@example.com' }],
  ['a line break in a name', { 'X-Note: a\r\nBcc': 'eve@example.com' }],
  ['a recipient', { bcc: 'eve@example.com' }],
  ['a part of the body', { 'Content-Type': 'text/html' }],
  ['a value that is too long', { 'X-Note': 'a'.repeat(1000) }],
  ['too many', Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`X-${index}`, 'a']))],
])('refuses headers with %s', async (_what, headers) => {
  await expect(send(headers)).rejects.toThrow(/cannot be sent|at most 20/);
});
