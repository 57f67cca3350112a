import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../../../support/e2e-server.ts';
import { createFolder } from '../../../support/folder.ts';
import { sendReport } from '../../support/send-report.ts';

const run = promisify(execFile);
const TOKEN = 'a-token-of-sixteen-characters';
const docs = readFileSync(fileURLToPath(new URL('../../../../docs/desk.md', import.meta.url)), 'utf8');

const BOOM = { exception: { values: [{ type: 'Error', value: 'boom' }] } };

const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

it.skipIf(!hasCurl)('the examples in docs/desk.md work as documented', async () => {
  const server = await startServer({ OPERATOR_TOKEN: TOKEN });
  onTestFinished(() => server.stop());
  const { digest: DIGEST } = await sendReport(server.url, BOOM);
  const [, script = ''] = /^## Use it from a program\n.*?^```sh\n(.*?)^```$/ms.exec(docs) ?? [];
  const env = { ...process.env, DESK: server.url, TOKEN, DIGEST };
  // Puts each answer on a separate line.
  const spaced = script.replace(/^(?:ask|curl) .*$/gm, (line) => `${line}; echo`);
  const { stdout } = await run('sh', ['-euc', spaced], { cwd: createFolder(onTestFinished), env });
  expect(stdout).toContain(`# ${DIGEST}\n\n\`\`\`\nError: boom\n`);
  const answers = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  expect(answers).toMatchObject([
    { openapi: expect.stringMatching(/^3\.1/) },
    // On a busy machine, a blocked event loop is another one.
    { incidents: expect.arrayContaining([expect.objectContaining({ digest: DIGEST })]) },
    { digest: DIGEST, shown: { side: 'browser' } },
    { incident: { status: { state: 'ignored', ignoredUntilMore: 10 } } },
  ]);
  expect(server.log()).not.toContain(TOKEN);
});
