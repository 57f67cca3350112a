import type { SendMail } from '#engine/server';
import { sendAccountLink } from '../accounts/send-account-link.ts';
import type { Database } from '../database/tables.ts';

interface Options {
  readonly db: Database;
  readonly sendMail: SendMail;
  readonly origin: string;
}

/** The background jobs. Run one with `services.queue.add('sendAccountLink', { email })`. */
export function createHandlers(options: Options) {
  return {
    async sendAccountLink({ email }: { email: string }, uid: string): Promise<void> {
      await sendAccountLink(email, { ...options, uid });
    },
  };
}
