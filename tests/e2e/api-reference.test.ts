import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { bearer } from '../../src/server/api/auth.ts';
import { implement } from '../../src/server/api/implement.ts';
import { operation } from '../../src/shared/api/operation.ts';
import { createTestApp, serve, type TestServer } from '../support/app.ts';
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
  server = await serve(
    createTestApp({ api: [part], apiDocument: { title: 'Notes', version: '1', about: 'All `notes`.' } }),
  );
  page = await (await shareBrowser()).newPage();
  ({ complaints } = await watch(page));
  await page.goto(`http://127.0.0.1:${server.port}/api/docs`);
});
test('is valid: the parser closes no paragraph early', async () => {
  const html = await (await fetch(page.url())).text();
  expect(await page.locator('p').count()).toBe(html.match(/<p[ >]/g)?.length);
});

afterAll(async () => {
  await page.context().close();
  server.close();
});

test('a reference describes the operations', async () => {
  expect(await page.title()).toBe('Notes · API reference');
  await page.getByRole('link', { name: 'PUT /api/folders/{folder}/notes/{id}' }).click();
  expect(page.url()).toMatch(/#changeNote$/);
  const schema = page.locator('#schema-Note');
  expect(await schema.innerText()).toMatch(/Plain text, at most `100` characters\..*A note\./s);
  const change = page.locator('#changeNote');
  expect(await change.innerText()).toMatch(/folder path: \{"type":"string"\}\s+id path: \{"type":"integer"\}/);
  await expectAccessible(page);
  expect(complaints).toEqual([]);
});
