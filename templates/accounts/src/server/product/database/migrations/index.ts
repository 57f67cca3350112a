import accounts from './0001-accounts.sql';
import jobs from './0002-jobs.sql';

/** All migrations, in the order in which they run. Never change one that has run: write a new one. */
export const migrations = {
  '0001-accounts': accounts,
  '0002-jobs': jobs,
};
