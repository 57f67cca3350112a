import { useState } from 'react';
import { expect, it } from 'vitest';
import { Await } from '../../../../src/shared/rendering/await.tsx';
import { useData, useNonce, useServerStyles } from '../../../../src/shared/rendering/hooks.ts';
import { CANARY, createGate, leakIn, parsePage, startPages, type TestPage } from '../../../support/pages-app.tsx';

/** Like a component library: it collects what its components add until the styles are taken. */
class Sheet {
  #rules: string[] = [];
  add = (name: string) => this.#rules.push(`.${name}{}`);
  take(): string {
    if (this.#rules.includes('.broken{}')) throw new Error(CANARY);
    return this.#rules.splice(0).join('');
  }
}

function Styled({ sheet, name }: { sheet: Sheet; name: string }) {
  sheet.add(name);
  return <b className={name}>{name}</b>;
}

function createPage(first: string, load: TestPage['server']): TestPage {
  function View() {
    const nonce = useNonce();
    const [sheet] = useState(() => new Sheet());
    useServerStyles(() => {
      const css = sheet.take();
      return css && `<style nonce="${nonce ?? ''}">${css}</style>`;
    });
    return (
      <main>
        <style href="own" precedence="low" nonce={nonce}>
          {'.own{}'}
        </style>
        <div dangerouslySetInnerHTML={{ __html: '<style data-precedence="low">.foreign{}</style>' }} />
        <Styled sheet={sheet} name={first} />
        <Await value={useData<{ late?: Promise<string> }>().late} fallback="">
          {(name) => name && <Styled sheet={sheet} name={name} />}
        </Await>
      </main>
    );
  }
  return { id: 'page', path: '/page', view: View, server: load };
}

const start = (page: TestPage) => startPages([{ id: 'root', children: [page] }]);

// tests/recipes/component-libraries.test.ts has static pages and shells.
it('sends the styles of each part before it, with the nonce', async () => {
  const gate = createGate<string>();
  const app = await start(createPage('early', { loader: () => ({ late: gate.promise }) }));
  const { text, headers } = await app.ask('/page', {
    onText: (text) => text.includes('>early<') && gate.resolve('late'),
  });
  const [, nonce] = /style-src [^;]*'nonce-([^']+)'/.exec(String(headers['content-security-policy'])) ?? [];
  expect(parsePage(text).deferred).toHaveLength(1);
  const at = (part: string) => text.indexOf(part);
  const [early, late] = ['early', 'late'].map((name) => `<style nonce="${nonce}">.${name}{}</style>`);
  expect([early, '</head>', '>early<', late, '>late<'].map((part) => at(part ?? ''))).toEqual(
    [early, '</head>', '>early<', late, '>late<'].map((part) => at(part ?? '')).sort((one, other) => one - other),
  );
  expect(at(early ?? '')).toBeGreaterThan(0);
  expect(text).toContain(`<style nonce="${nonce}" data-precedence="low" data-href="own">.own{}</style>`);
  expect(text).toContain('<style data-precedence="low">.foreign{}');
});

it('is a failure of the page if they cannot be taken', async () => {
  const app = await start(createPage('broken', { loader: () => ({}) }));
  const { status, text, headers } = await app.ask('/page');
  expect([status, headers['x-error-digest']]).toEqual([500, expect.stringMatching(/^\w{8}/)]);
  expect([leakIn(text), text.includes('>broken<')]).toEqual([undefined, false]);
  expect(app.failures()).toHaveLength(1);
});

it('is a failure of a later part that only costs its styles', async () => {
  const gate = createGate<string>();
  const app = await start(createPage('early', { loader: () => ({ late: gate.promise }) }));
  const { status, text } = await app.ask('/page', {
    onText: (text) => text.includes('>early<') && gate.resolve('broken'),
  });
  expect([status, leakIn(text), text.includes('>broken<'), text.endsWith('</html>')]).toEqual([
    200,
    undefined,
    true,
    true,
  ]);
  expect(app.failures().length).toBeGreaterThan(0);
});
