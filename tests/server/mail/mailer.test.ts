import { expect, it, onTestFinished } from 'vitest';
import { createMailer } from '../../../src/server/mail/mailer.ts';
import type { Mail } from '../../../src/server/mail/send-mail.ts';
import { startMailServer } from '../../support/receivers.ts';

const mail: Mail = { uid: '1', to: ['ada@example.com'], subject: 'News', text: 'The lake is full.' };

it.each([
  ['the mail server is away', false, 'ESOCKET', { code: 'ESOCKET' }],
  ['the mail server refuses the mail', true, '550', { responseCode: 550 }],
])('says which function sent the mail, and nothing of the mail, if %s', async (_when, isUp, code, cause) => {
  const server = await startMailServer();
  server.answer = '550 <ada@example.com> is unknown here';
  if (isUp) onTestFinished(() => server.close());
  else await server.close();
  const sendMail = createMailer({ smtpUrl: `smtp://127.0.0.1:${server.port}`, mailFrom: 'weir@example.com' });
  async function tellAda() {
    await sendMail?.(mail);
  }
  const error = await tellAda().then(
    () => new Error('It was sent.'),
    (thrown: Error) => thrown,
  );
  expect(error.stack).toMatch(/at (?:async )?tellAda /);
  expect(error.message).toBe(`The mail could not be sent (${code}).`);
  expect(error.cause).toMatchObject(cause);
});
