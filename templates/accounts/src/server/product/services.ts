import { report, type SendMail, type ServiceTools } from '#engine/server';
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
  async open(settings: Settings, { log }: ServiceTools): Promise<Services> {
    const { origin, isLocal, sendMail = printMails(log) } = settings;
    if (origin === undefined) throw new Error('Set PUBLIC_ORIGINS. Links in mails begin with its first origin.');
    if (!isLocal) requireProduction(settings);
    const db = await openDatabase(settings);
    if (settings.seed) await seed(db);
    const queue = createQueue({ db, handlers: createHandlers({ db, sendMail, origin }), report });
    queue.start();
    const cleaning = setInterval(() => deleteExpired(db).catch((error) => report(error)), HOUR).unref();
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

function requireProduction({ sendMail, seed: isSeeded }: Settings): void {
  if (!sendMail) throw new Error('Set SMTP_URL and MAIL_FROM. Visitors cannot sign up without a mail.');
  if (isSeeded) throw new Error('SEED adds an account whose password is public. Remove it outside of development.');
}

function printMails(log: ServiceTools['log']): SendMail {
  return async ({ to, subject, text }) => {
    log.info({ to }, `This mail was not sent, because SMTP_URL is not set.\n\n${subject}\n\n${text}`);
  };
}
