import type { MailServer, SendMail } from './send-mail.ts';

/** Sends mail through a server. The code for it is loaded with the first mail. */
export function loadSendMail(server: MailServer): SendMail {
  let loaded: Promise<SendMail> | undefined;
  return async (mail) => {
    loaded ??= import('./send-mail.ts').then(({ createSendMail }) => createSendMail(server));
    return (await loaded)(mail);
  };
}

interface MailSettings {
  readonly smtpUrl?: string | undefined;
  readonly mailFrom?: string | undefined;
}

/** Returns a function that sends mail through `SMTP_URL` from `MAIL_FROM`; undefined if they are not set. */
export function createMailer({ smtpUrl, mailFrom }: MailSettings): SendMail | undefined {
  return smtpUrl === undefined || mailFrom === undefined ? undefined : loadSendMail({ smtpUrl, from: mailFrom });
}
