import type { Config } from '../../config.ts';
import { type AddressFinder, createAddressFinder } from './find-address.ts';
import type { MailServer, SendMail } from './send-mail.ts';

/** Sends mail through a server. The code for it is loaded with the first mail. */
export function loadSendMail(server: MailServer, addresses: AddressFinder): SendMail {
  let loaded: Promise<SendMail> | undefined;
  return async (mail) => {
    loaded ??= import('./send-mail.ts').then(({ createSendMail }) => createSendMail(server, addresses));
    return (await loaded)(mail);
  };
}

/** Returns a function that sends mail through `SMTP_URL` from `MAIL_FROM`; undefined if they are not set. */
export function createMailer({ smtpUrl, mailFrom, notifyPrivateTargets }: Config): SendMail | undefined {
  if (smtpUrl === undefined || mailFrom === undefined) return undefined;
  return loadSendMail({ smtpUrl, from: mailFrom }, createAddressFinder(notifyPrivateTargets));
}
