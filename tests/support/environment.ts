/**
 * The variables that tests take from the shell: the programs and the user, the network of npm, and the options of tests,
 * which begin with `TEST_` in apps.
 */
const TAKEN =
  /^(?:PATH|HOME|USER|TMPDIR|HTTPS_PROXY|NO_PROXY|NODE_EXTRA_CA_CERTS|CHROMIUM_PATH|SEED|BAD_INPUTS_SHARE|SHOTS|(?:TEST|VITEST)_\w+)$/i;

// Runs on import, before anything reads the environment. Test processes and the servers that they start inherit it. So
// settings, a time zone or a `.gitconfig` of the developer cannot change the result of a test.
for (const name of Object.keys(process.env)) if (!TAKEN.test(name)) delete process.env[name];
const { TEST_DIGEST_NAMESPACE } = process.env;
Object.assign(process.env, {
  ...(TEST_DIGEST_NAMESPACE && { DIGEST_NAMESPACE: TEST_DIGEST_NAMESPACE }),
  NODE_ENV: 'test',
  TZ: 'UTC',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
});
process.umask(0o022); // PostgreSQL and nginx read files of root as other users.
