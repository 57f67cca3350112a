import type { SendMail, ServiceTools } from '#engine/server';
import { deleteExpired } from './accounts/delete-expired.ts';
import { openDatabase } from './database/open-database.ts';
import { seed } from './database/seed.ts';
import type { Database } from './database/tables.ts';
import { createHandlers } from './jobs/handlers.ts';
import { createQueue, type Queue } from './jobs/queue.ts';
import type { Settings } from './settings.ts';

export interface Services {
  readonly db: Database;
  readonly queue: Pick<Queue<ReturnType<typeof createHandlers>>, 'add'>;
  close(): Promise<void>;
}

const HOUR = 60 * 60 * 1000;

export const services = {
  async open(settings: Settings, { log, report }: ServiceTools): Promise<Services> {
    const sendMail = settings.sendMail ?? printMails(settings, log);
    const db = await openDatabase(settings);
    if (settings.seed) await seed(db);
    const queue = createQueue({ db, handlers: createHandlers({ db, sendMail, origin: settings.origin }), report });
    queue.start();
    const cleaning = setInterval(() => deleteExpired(db).catch(report), HOUR).unref();
    return {
      db,
      queue,
      async close() {
        clearInterval(cleaning);
        await queue.stop();
        await db.destroy();
      },
    };
  },
  close: (opened: Services) => opened.close(),
};

/** On your machine, mails are printed to the log. */
function printMails({ isLocal }: Settings, log: ServiceTools['log']): SendMail {
  if (!isLocal) throw new Error('Set SMTP_URL and MAIL_FROM. Visitors cannot sign up without a mail.');
  return async ({ to, subject, text }) => {
    log.info({ to }, `This mail was not sent, because SMTP_URL is not set.\n\n${subject}\n\n${text}`);
  };
}
