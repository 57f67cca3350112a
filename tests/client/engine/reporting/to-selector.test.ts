import { JSDOM } from 'jsdom';
import { afterEach, expect, it, vi } from 'vitest';
import { toSelector } from '../../../../src/client/engine/reporting/sentry.ts';

afterEach(() => void vi.unstubAllGlobals());

it.each([
  ['<b><button id="pay" data-it>', '#pay'],
  ['<i id=":r1:" data-it></i>', 'i'],
  ['<input name="email" data-it><input name="note">', 'input[name="email"]'],
  ['<a href="/a">1</a><a href="/b" data-it>2</a>', 'a[href="/b"]'],
  ['<p></p><p data-it></p>', 'p:nth-of-type(2)'],
  ['<ul><li><b></b></li></ul><ol><li><b data-it></b></li></ol>', 'ol > li:nth-of-type(1) > b:nth-of-type(1)'],
  [`<input name="it's" data-it><input>`, `input[name="it's"]`],
  [
    '<form><input name="parentElement"><input name="id"><input name="getAttribute"><b data-it></b></form><b></b>',
    'form > b:nth-of-type(1)',
  ],
])('finds only the element again: %s', (html, selector) => {
  const { document } = new JSDOM(html).window;
  vi.stubGlobal('document', document);
  vi.stubGlobal('Element', document.defaultView?.Element);
  const element = document.querySelector('[data-it]') as Element;
  // A browser replaces properties of a form by its fields.
  for (const field of document.querySelectorAll<HTMLInputElement>('form > [name]')) {
    Object.defineProperty(field.parentElement, field.name, { value: field });
  }
  expect(toSelector(element)).toBe(selector);
  expect([...document.querySelectorAll(selector)]).toEqual([element]);
});
