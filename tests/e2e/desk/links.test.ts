import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../../src/server/desk/store/sqlite.ts';
import { openStore } from '../../../src/server/desk/store/store.ts';
import { createTestLog } from '../../support/test-log.ts';
import { expectAccessible } from '../accessible.ts';
import { heading, useSite } from '../site.ts';
import { deskSession } from './session.ts';

const FILE = 'src/server/product/pages/fail-loader.ts';
const TRACE = '0af7651916cd43dd8448eb211c80319c';

const site = useSite(async () => ({
  ISSUE_LINK: 'https://issues.example.com/new?title={title}&body={url}&labels={environment}',
  TRACE_LINK: 'https://traces.example.com/trace/{traceId}',
  DESK_ORIGIN: 'https://desk.example.com',
}));

/** Replaces the commits of the running build by one that changed all of a file. */
async function writeCommits(build: string): Promise<void> {
  const driver = openSqlite(join(site.server.dataDir, 'desk.sqlite'), { log: createTestLog().log });
  const store = await openStore(driver, { environment: 'production' });
  const commit = {
    hash: '3f2a9c1d0b'.repeat(4),
    author: 'Ada Lovelace',
    at: Date.now() - 3_600_000,
    subject: 'Throw <b>earlier</b>, so that the loader of a page that takes long does not begin its work',
    lines: { [FILE]: [[1, 99]] },
  };
  // The server stores its own at the start.
  await expect.poll(() => store.useBuild({ id: build, release: build }), { timeout: 20_000 }).toBe(true);
  await store.storeBuildFile(build, { path: 'commits.json', read: () => Buffer.from(JSON.stringify([commit])) });
  await store.close();
}

test('an incident names its likely commit, and links to a new issue and to its trace', async () => {
  const reply = await fetch(`${site.url}/tour/fail/loader`, {
    headers: { accept: 'text/html', traceparent: `00-${TRACE}-b7ad6b7169203331-01` },
  });
  const address = reply.headers.get('x-error-digest') ?? '';
  await writeCommits(reply.headers.get('x-build-id') ?? '');
  const path = `/desk/${address.replace('-', '/')}`;
  for (const javaScriptEnabled of [true, false]) {
    const { page, complaints } = await site.open(path, { session: deskSession, javaScriptEnabled });
    await heading(page, 'Error: The tour threw this in a loader.');
    const words = await page.getByText('Likely caused by').innerText();
    expect(words).toMatch(
      /^Likely caused by 3f2a9c1d0 “Throw <b>earlier<\/b>, .*” by Ada Lovelace, 1 h ago, which changed/,
    );
    expect(words).toMatch(new RegExp(`${FILE}:\\d+$`));
    const issue = new URL((await page.getByRole('link', { name: 'Create an issue' }).getAttribute('href')) ?? '');
    expect(Object.fromEntries(issue.searchParams)).toEqual({
      title: 'Error: The tour threw this in a loader.',
      body: `https://desk.example.com${path}`,
      labels: 'production',
    });
    expect(await page.getByRole('link', { name: TRACE }).getAttribute('href')).toBe(
      `https://traces.example.com/trace/${TRACE}`,
    );
    expect(complaints).toEqual([]);
    if (javaScriptEnabled) await expectAccessible(page);
  }
});
