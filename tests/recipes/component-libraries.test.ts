import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOwnedApp, type RunningApp, readProjectFile, startApp } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';
import { openPage } from './recipe.ts';

/** A library's page: what it imports and shows, also later, and how its styles are recognized. */
interface Library {
  readonly section: string;
  /** The element that the recipe puts around everything in the root layout. */
  readonly around?: string;
  readonly imports: string;
  readonly shown: string;
  readonly late?: string;
  readonly styled: readonly [selector: string, property: string, value: string][];
  readonly opens?: { readonly selector: string; readonly position: string; readonly locksScroll?: true };
}

const LIBRARIES: Record<string, Library> = {
  mui: {
    section: 'MUI',
    around: 'Mui',
    imports: `import { Alert, Button, Dialog, DialogContent } from '@mui/material';`,
    shown: `
      <Button variant="contained" onClick={() => setOpen(true)}>Open</Button>
      <Dialog open={isOpen} onClose={() => setOpen(false)}><DialogContent>Opened</DialogContent></Dialog>`,
    late: '<Alert severity="info">Late</Alert>',
    styled: [
      ['main button', 'background-color', 'rgb(25, 118, 210)'],
      ['[role=alert]', 'display', 'flex'],
    ],
    opens: { selector: '[role=dialog]', position: 'relative', locksScroll: true },
  },
  mantine: {
    section: 'Mantine',
    around: 'Mantine',
    imports: `import { Box, Button, Modal, SimpleGrid } from '@mantine/core';`,
    shown: `
      <SimpleGrid cols={{ base: 1, sm: 3 }}>Grid</SimpleGrid>
      <Button p={{ base: 3, xs: 13 }} onClick={() => setOpen(true)}>Open</Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)}>Opened</Modal>`,
    late: '<Box id="late" p={{ base: 1, xs: 7 }}>Late</Box>',
    styled: [
      ['main button', 'background-color', 'rgb(34, 139, 230)'],
      ['main button', 'padding-top', '13px'],
      ['#late', 'padding-top', '7px'],
    ],
    opens: { selector: '.mantine-Modal-inner', position: 'fixed', locksScroll: true },
  },
  radix: {
    section: 'Radix and shadcn/ui',
    imports: `import { Dialog } from 'radix-ui'; import { Scrollable } from '../ui/scroll-area.tsx';`,
    shown: `
      <Dialog.Root open={isOpen} onOpenChange={setOpen}>
        <Dialog.Trigger>Open</Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Overlay style={{ position: 'fixed', inset: 0, background: '#0008' }} />
          <Dialog.Content style={{ position: 'fixed', inset: '6rem', background: 'Canvas' }} aria-describedby={undefined}>
            <Dialog.Title>Opened</Dialog.Title>
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
      <Scrollable>{Array.from({ length: 20 }, (_, line) => <p key={line}>Line {line}</p>)}</Scrollable>`,
    late: '<div id="late"><Scrollable>Late</Scrollable></div>',
    styled: [
      ['[data-radix-scroll-area-viewport]', 'scrollbar-width', 'none'],
      ['#late [data-radix-scroll-area-viewport]', 'scrollbar-width', 'none'],
    ],
    opens: { selector: '[role=dialog]', position: 'fixed', locksScroll: true },
  },
  styled: {
    section: 'styled-components',
    around: 'Styled',
    imports: `
      import { styled } from 'styled-components';
      const Heading = styled.h1\`padding: 17px; background: rebeccapurple; color: white;\`;
      const Text = styled.p\`padding: 7px; outline: 1px solid;\`;`,
    shown: '<Heading>Styled</Heading>',
    late: '<Text id="late">Late</Text>',
    styled: [
      ['h1', 'background-color', 'rgb(102, 51, 153)'],
      ['#late', 'padding-top', '7px'],
    ],
  },
};

const MODES = ['dynamic', 'static', 'shell'] as const;
type Mode = (typeof MODES)[number];

const toPage = ({ imports, shown, late }: Pick<Library, 'imports' | 'shown' | 'late'>) => `
  import { Suspense, use, useState } from 'react';
  ${imports}
  function Late({ data }) { return data ? use(data.late) : null; }
  export default function Page({ data }) {
    const [isOpen, setOpen] = useState(false);
    return <><title>Page</title>${shown}${late ? `<Suspense fallback="…"><Late data={data} />${late}</Suspense>` : ''}</>;
  }`;

const sections = readProjectFile('docs/recipes/component-libraries.md').split('\n## ');

/** Creates an app with one library, by the sections that its own section needs. */
function createApp({ section, around, ...library }: Library) {
  const find = (title: string) => `\n## ${sections.find((text) => text.startsWith(`${title}\n`)) ?? ''}`;
  const needed = find(section).includes('(#trusted-types)') ? [find('Trusted Types')] : [];
  const blocks = [find('Static pages'), ...needed, find(section)].flatMap((text) => listBlocks(text));
  const app = createOwnedApp(blocks, { withPackages: true, over: 'recipes/component-libraries' });
  const rest = (mode: Mode) => `path: '/${mode}', page: () => import('./pages/library.tsx')`;
  app.write({
    'src/shared/product/routes.tsx': `
      import { defineRoutes } from '#engine';
      export const routes = defineRoutes([{
        id: 'root',
        page: () => import('./pages/root/root.tsx'),
        children: [
          { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },
          { id: 'plain', path: '/plain', mode: 'static', page: () => import('./pages/home/home.tsx') },
          { id: 'dynamic', ${rest('dynamic')} },
          { id: 'static', mode: 'static', ${rest('static')} },
          { id: 'shell', mode: 'shell', ${rest('shell')} },
        ],
      }]);`,
    'src/server/product/pages/index.ts': `
      import { setTimeout } from 'node:timers/promises';
      const late = { loader: () => ({ late: setTimeout(200) }) };
      export const pages = { root: null, home: null, plain: null, static: null, dynamic: late, shell: late };`,
    'src/shared/product/pages/root/root.tsx': `
      import { Outlet } from 'react-router';
      import { Link } from '#engine';
      ${around ? `import { ${around} } from '../../ui/${around.toLowerCase()}.tsx';` : ''}
      export default function Root() {
        return (
          <${around ?? ''}>
            <main style={{ minHeight: '150vh' }}><Outlet /></main>
            <nav>${MODES.map((mode) => `<Link to="/${mode}">${mode}</Link> `).join('')}</nav>
          </${around ?? ''}>
        );
      }`,
    'src/shared/product/pages/library.tsx': toPage(library),
  });
  return app;
}

async function expectStyled(page: Page, { styled }: Library): Promise<void> {
  for (const [selector, property, value] of styled) {
    const element = page.locator(selector).first();
    await element.waitFor();
    const shown = await element.evaluate((it, name) => getComputedStyle(it).getPropertyValue(name), property);
    expect([selector, property, shown]).toEqual([selector, property, value]);
  }
}

async function expectOpens(page: Page, { opens }: Library): Promise<void> {
  if (!opens) return;
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByText('Opened').first().waitFor();
  const position = await page.locator(opens.selector).evaluate((it) => getComputedStyle(it).position);
  const overflow = () => page.evaluate(() => getComputedStyle(document.body).overflowY);
  expect(position).toBe(opens.position);
  if (opens.locksScroll) await expect.poll(overflow).toBe('hidden');
}

describe.each(Object.entries(LIBRARIES))('%s alone', (_name, library) => {
  const app = createApp(library);
  let server: RunningApp;
  beforeAll(async () => {
    await app.build();
    server = await startApp(app.folder);
  });
  afterAll(async () => {
    await server?.stop();
    app.remove();
  });
  const open = (path: string, options: BrowserContextOptions = {}) =>
    openPage(server.url + path, { viewport: { width: 900, height: 600 }, ...options });

  it.each(MODES)(
    'is styled without JavaScript, and works without a violation or a mismatch: a %s page',
    async (mode) => {
      const whole = mode === 'static' ? '' : '?_whole=1';
      const bare = await open(`/${mode}${whole}`, { javaScriptEnabled: false });
      await expectStyled(bare.page, library);
      const { page, complaints } = await open(`/${mode}`);
      await expectStyled(page, library);
      await expectOpens(page, library);
      expect(complaints).toEqual([]);
    },
  );

  it.each([
    ['/', 'dynamic'],
    ['/', 'static'],
    ['/plain', 'dynamic'],
  ])('works after a navigation from %s to a %s page', async (from, mode) => {
    const { page, complaints, documents } = await open(from);
    await page.getByRole('link', { name: mode }).click();
    await page.getByText(library.opens ? 'Open' : 'Styled', { exact: true }).waitFor();
    await expectStyled(page, library);
    await expectOpens(page, library);
    expect(complaints).toEqual([]);
    expect(documents).toEqual([from]);
  });

  it('has caused no report of a browser', () => {
    expect(server.log()).not.toContain('A browser reported a failure');
  });
});
