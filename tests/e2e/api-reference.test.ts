import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { bearer } from '../../src/server/engine/api/auth.ts';
import { implement } from '../../src/server/engine/api/implement.ts';
import { operation } from '../../src/shared/engine/api/operation.ts';
import { startTestServer, type TestServer } from '../support/app.ts';
import { shareBrowser, watch } from '../support/browser.ts';
import { expectAccessible } from './accessible.ts';

const Note = z
  .strictObject({ id: z.int(), text: z.string().describe('Plain text, at most `100` characters.') })
  .meta({ id: 'Note', description: 'A note.' });

const notes = {
  listNotes: operation({
    method: 'GET',
    path: '/notes',
    summary: 'List notes',
    query: z.strictObject({ tags: z.array(z.string()).optional(), done: z.boolean().optional() }),
    isOpen: true,
    replies: { 200: { about: 'The tags, and whether it is done.', body: z.object({ found: z.array(z.string()) }) } },
  }),
  changeNote: operation({
    method: 'PUT',
    path: '/folders/:folder/notes/:id',
    summary: 'Change a note',
    about: 'Sends `If-Match`.',
    params: z.strictObject({ folder: z.string(), id: z.int() }),
    body: Note.pick({ text: true }),
    ifMatch: true,
    replies: { 200: { about: 'The note, with its folder.', body: z.object({ note: Note, folder: z.string() }) } },
  }),
};

let server: TestServer;
let page: Page;
let complaints: readonly string[];

beforeAll(async () => {
  const part = implement(
    notes,
    {
      listNotes: ({ query: { tags = [], done } }) => ({ status: 200, body: { found: [...tags, String(done)] } }),
      changeNote({ params, body, match }) {
        match('1');
        return { status: 200, body: { note: { id: params.id, text: body.text }, folder: params.folder } };
      },
    },
    { auth: bearer((token) => (token === 'secret' ? { id: 1 } : undefined)) },
  );
  server = await startTestServer({ api: [part], apiDocument: { title: 'Notes', version: '1', about: 'All `notes`.' } });
  page = await (await shareBrowser()).newPage();
  ({ complaints } = await watch(page));
  await page.goto(`http://127.0.0.1:${server.port}/api/docs`);
});
afterAll(async () => {
  await page.context().close();
  server.close();
});

/** Sends what was entered, and returns the response as it is shown. */
async function send(operationId: string): Promise<string> {
  const form = page.locator(`#${operationId} form`);
  await form.getByRole('button', { name: 'Send' }).click();
  const output = form.locator('output');
  await expect.poll(() => output.textContent()).not.toMatch(/^(Sending …)?$/);
  return (await output.textContent()) ?? '';
}

test('a reference describes the operations', async () => {
  expect(await page.title()).toBe('Notes · API reference');
  await page.getByRole('link', { name: 'PUT /api/folders/{folder}/notes/{id}' }).click();
  expect(page.url()).toMatch(/#changeNote$/);
  const schema = page.locator('#schema-Note');
  expect(await schema.innerText()).toMatch(/A note\.\s+id integer\s+text string Plain text, at most 100 characters\./);
  // It is valid: the parser closes no paragraph early.
  const html = (await (await fetch(page.url())).text()).replace(/<noscript>.*?<\/noscript>/s, '');
  expect(await page.locator('p').count()).toBe(html.match(/<p[ >]/g)?.length);
  await expectAccessible(page);
});

test('its forms send requests, and show the responses', async () => {
  const list = page.locator('#listNotes');
  await list.getByLabel('tags query').fill('a b\nc');
  await list.getByLabel('done query').fill('true');
  const listed = await send('listNotes');
  expect(listed).toMatch(/^GET \/api\/notes\?tags=a\+b&tags=c&done=true\n200 OK, \d+ ms\n/);
  expect(listed).toMatch(/\netag: W\//);
  expect(listed).toContain('"found": [\n    "a b",\n    "c",\n    "true"\n  ]');

  const change = page.locator('#changeNote');
  await change.getByLabel('folder path').fill('a b');
  await change.getByLabel('id path').fill('7');
  expect(await send('changeNote')).toContain('401 Unauthorized');
  await page.getByLabel('Token').fill('secret');
  expect(await send('changeNote')).toContain('"folder": "a b"');
  await change.getByLabel('Body').fill('{"text":7}');
  expect(await send('changeNote')).toContain('422 Unprocessable');
  await change.getByLabel('Body').fill('{"text":"<b>"}');
  await change.getByLabel('If-Match header').fill('"0"');
  expect(await send('changeNote')).toContain('412 Precondition Failed');
  await change.getByLabel('If-Match header').fill('"1"');
  expect(await send('changeNote')).toContain('"text": "<b>"');
  // The browser names each response of 400 or more.
  expect(complaints.filter((text) => !text.includes('Failed to load resource'))).toEqual([]);
});
