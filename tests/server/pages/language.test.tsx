import { Router } from 'express';
import request from 'supertest';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { HttpError } from '../../../src/server/request/http-error.ts';
import { Await } from '../../../src/shared/rendering/await.tsx';
import { useData } from '../../../src/shared/rendering/hooks.ts';
import type { DocumentComponent, DocumentProps } from '../../../src/shared/rendering/language.ts';
import { createFakePages, createTestApp } from '../../support/app.ts';
import { FORM, startPages, type TestPage } from '../../support/pages-app.tsx';

const Localized: DocumentComponent = ({ lang, dir, head, children }: DocumentProps) => (
  <html lang={lang} dir={dir}>
    <head>{head}</head>
    <body>{children}</body>
  </html>
);
Localized.language = (path) =>
  path.startsWith('/ar')
    ? {
        lang: 'ar',
        dir: 'rtl',
        texts: {
          'This could not be loaded.': 'تعذر التحميل.',
          'This page does not accept the form.': 'غير مقبول.',
          'Something went wrong on our side': 'حدث خطأ.',
          'This address is not valid.': 'عنوان غير صالح.',
          'This request comes from another site, so it was not carried out.': 'من موقع آخر.',
          'The form has more than 1000 fields.': 'حقول كثيرة.',
          'Too many requests. Wait a moment and try again.': 'طلبات كثيرة.',
        },
      }
    : { lang: 'de' };

function Late() {
  const { late } = useData<{ late: Promise<string> }>();
  return (
    <Await value={late} fallback="…">
      {(text) => text}
    </Await>
  );
}

const PAGES: readonly TestPage[] = [
  {
    id: 'root',
    children: [
      { id: 'page', path: '/:lang/page' },
      { id: 'found', path: '/:lang/found', server: { search: z.object({ q: z.string('Enter a word.') }) } },
      { id: 'kept', path: '/:lang/kept', mode: 'static' },
      {
        id: 'late',
        path: '/:lang/late',
        view: Late,
        server: {
          loader: () => ({ late: new Promise((_resolve, reject) => setTimeout(reject, 5, new Error('lost'))) }),
        },
      },
    ],
  },
];

it.each([
  ['page', 200],
  ['kept', 200],
  ['nothing', 404],
  ['late', 200],
])('%s has the language and the direction of its path', async (path, status) => {
  const app = await startPages(PAGES, { document: Localized });
  for (const [lang, html] of [
    ['ar', '<html lang="ar" dir="rtl">'],
    ['de', '<html lang="de">'],
  ]) {
    const reply = await app.ask(`/${lang}/${path}`);
    expect([reply.status, reply.text.includes(html ?? '')]).toEqual([status, true]);
  }
});

it.each([
  ['a search that its page does not accept', '/ar/found', undefined, 'عنوان غير صالح. q: Enter a word.'],
  ['a form of another site', '/ar/page', { Origin: 'https://evil.example' }, 'من موقع آخر.'],
  ['a form with too many fields', '/ar/page', FORM, 'حقول كثيرة.'],
])('refuses %s in the language of its path', async (_name, path, headers, text) => {
  const app = await startPages(PAGES, { document: Localized });
  const reply = headers ? await app.post(path, 'a&'.repeat(1001), headers) : await app.ask(path);
  expect(reply.text).toContain(text);
});

it('answers for a route of Express that fails or refuses in the language of its path', async () => {
  const routes = Router()
    .get('/ar/broken', () => {
      throw new Error('lost');
    })
    .get('/ar/often', () => {
      throw new HttpError(429);
    });
  const pages = createFakePages({
    toLanguage: Localized.language,
    renderError: async (_req, res, { message }) => void res.send(message),
  });
  const app = createTestApp({ routes, pages });
  expect((await request(app).get('/ar/broken')).text).toMatch(
    /^<!DOCTYPE html><html lang="ar" dir="rtl">.*<h1>حدث خطأ\.<\/h1>/,
  );
  expect((await request(app).get('/ar/often')).text).toBe('طلبات كثيرة.');
});
