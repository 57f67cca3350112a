import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { PLAIN_PAGE_POLICY, renderLastResort } from '../../../src/server/errors/last-resort.ts';
import { ENGLISH } from '../../../src/shared/rendering/language.ts';

it('has a heading, the sentence with the host, the digest below it, and what to do', () => {
  const html = renderLastResort({ kind: 'failure', status: 500, digest: '7K3QM2XA-9F4W0R6B' }, 'example.com', ENGLISH);
  const sentence = 'Application error: a client-side exception has occurred while loading the host example.com';
  expect(html).toContain(`<h1>Something went wrong on our side</h1><p>${sentence}</p>`);
  expect(html).toContain('<title>Something went wrong on our side</title>');
  expect(html).toMatch(
    /<\/p><p>Digest: <code>7K3QM2XA-9F4W0R6B<\/code><\/p><p>Our server failed\. [^<]+<\/p><p><a href="">Try again/,
  );
  expect(html).toContain('noindex');
});

it('escapes all values', () => {
  const evil = '"><script>alert(1)</script>\'&';
  const html =
    renderLastResort({ kind: 'failure', status: 500, digest: evil }, evil, ENGLISH) +
    renderLastResort({ kind: 'public', status: 400, message: evil }, evil, ENGLISH);
  expect(html).not.toContain('<script');
  expect(html).toContain('&quot;&gt;&lt;script&gt;');
});

it('allows only its own style sheet', () => {
  const html = renderLastResort({ kind: 'failure', status: 500 }, 'x', ENGLISH);
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(html) ?? [];
  expect(PLAIN_PAGE_POLICY).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  expect(PLAIN_PAGE_POLICY).not.toContain('unsafe');
  expect(html).not.toMatch(/style="|<script|<img|<link/);
});
