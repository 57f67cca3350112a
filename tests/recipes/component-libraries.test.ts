import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOwnedApp, type RunningApp, readProjectFile, startApp } from '../support/owned-app.ts';
import { listBlocks } from '../support/recipe-blocks.ts';
import { openPage } from './recipe.ts';

/** A library's page: what it imports and shows, also later, and how its styles are recognized. */
interface Library {
  readonly section: string;
  /** What the recipe puts into the root layout: an element around everything, or beside it. */
  readonly around?: string;
  readonly beside?: string;
  readonly imports: string;
  readonly shown: string;
  readonly late?: string;
  readonly styled: readonly [selector: string, property: string, value: string][];
  /** The page `/choice` is a form of it. */
  readonly hasForm?: true;
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
    hasForm: true,
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
  sonner: {
    section: 'sonner',
    beside: 'Toasts',
    imports: `import { toast } from 'sonner';`,
    shown: `<button type="button" onClick={() => toast('Opened')}>Open</button>`,
    styled: [],
    opens: { selector: '[data-sonner-toaster]', position: 'fixed' },
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

/** A form of Radix's, whose native fields are hidden. */
const CHOICE_PAGE = `
  import { useEffect, useState } from 'react';
  import { Checkbox, RadioGroup, Select, Switch } from 'radix-ui';
  import { useNonce } from '#engine';
  import { useActionResult } from '../../rendering/hooks.ts';
  import { Form } from '../../rendering/actions.tsx';
  export default function Page() {
    const result = useActionResult('choice.save');
    return (
      <Form action="choice.save">
        <Select.Root name="size" defaultValue="S">
          <Select.Trigger aria-label="Size"><Select.Value placeholder="…" /></Select.Trigger>
          <Select.Portal><Select.Content><Select.Viewport nonce={useNonce()}>
            {['S', 'M', 'L'].map((it) => <Select.Item key={it} value={it}><Select.ItemText>{it}</Select.ItemText></Select.Item>)}
          </Select.Viewport></Select.Content></Select.Portal>
        </Select.Root>
        <Checkbox.Root name="gift" aria-label="Gift">?</Checkbox.Root>
        <Switch.Root name="fast" aria-label="Fast" defaultChecked><Switch.Thumb>!</Switch.Thumb></Switch.Root>
        <RadioGroup.Root name="by" defaultValue="post">
          {['post', 'boat'].map((it) => <RadioGroup.Item key={it} value={it} aria-label={it}>*</RadioGroup.Item>)}
        </RadioGroup.Root>
        <button>Save</button>
        <button formAction="/choice?ended">Save after the session ended</button>
        <output>{JSON.stringify(result?.data)}</output>
      </Form>
    );
  }`;

const sections = readProjectFile('docs/recipes/component-libraries.md').split('\n## ');

/** Creates an app with one library, by the sections that its own section needs. */
function createApp({ section, around, beside, hasForm, ...library }: Library) {
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
          ${hasForm ? "{ id: 'choice', path: '/choice', page: () => import('./pages/choice.tsx') }," : ''}
          { id: 'plain', path: '/plain', mode: 'static', page: () => import('./pages/home/home.tsx') },
          { id: 'dynamic', ${rest('dynamic')} },
          { id: 'static', mode: 'static', ${rest('static')} },
          { id: 'shell', mode: 'shell', ${rest('shell')} },
        ],
      }]);`,
    'src/server/product/pages/index.ts': `
      import { setTimeout } from 'node:timers/promises';
      import { redirect } from '#engine';
      const guard = ({ url }) => url.searchParams.has('ended') && redirect('/');
      const choice = { guard, actions: { save: ({ form }) => [...form].slice(1) } };
      const late = { loader: () => ({ late: setTimeout(200) }) };
      export const pages = { root: null, home: null, plain: null, static: null, dynamic: late, shell: late${hasForm ? ', choice' : ''} };`,
    'src/shared/product/pages/root/root.tsx': `
      import { Outlet } from 'react-router';
      import { Link } from '#engine';
      ${[around, beside].map((name) => (name ? `import { ${name} } from '../../ui/${name.toLowerCase()}.tsx';` : '')).join('\n')}
      export default function Root() {
        return (
          <${around ?? ''}>
            <main style={{ minHeight: '150vh' }}><Outlet /></main>
            <nav>${MODES.map((mode) => `<Link to="/${mode}">${mode}</Link> `).join('')}<Link to="/choice">/choice</Link></nav>
            ${beside ? `<${beside} />` : ''}
          </${around ?? ''}>
        );
      }`,
    'src/shared/product/pages/library.tsx': toPage(library),
    ...(hasForm && { 'src/shared/product/pages/choice.tsx': CHOICE_PAGE }),
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

  it.runIf(library.hasForm)('what was chosen is there again after a guard has redirected the form', async () => {
    const { page, complaints } = await open('/choice');
    const role = (name: 'combobox' | 'checkbox' | 'switch' | 'radio', label: string) =>
      page.getByRole(name, { name: label });
    const read = async () => [
      await role('combobox', 'Size').innerText(),
      await role('checkbox', 'Gift').isChecked(),
      await role('switch', 'Fast').isChecked(),
      await role('radio', 'boat').isChecked(),
    ];
    await role('combobox', 'Size').click();
    await page.getByRole('option', { name: 'L' }).click();
    for (const it of [role('checkbox', 'Gift'), role('switch', 'Fast'), role('radio', 'boat')]) await it.click();
    const chosen = ['L', true, false, true];
    expect(await read()).toEqual(chosen);
    await page.getByRole('button', { name: 'Save after the session ended' }).click();
    await page.waitForURL(`${server.url}/`);
    await page.getByRole('link', { name: '/choice' }).click();
    await expect.poll(read).toEqual(chosen);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('[["size","L"],["gift","on"],["by","boat"]]').waitFor();
    expect(complaints).toEqual([]);
  });

  it('has caused no report of a browser', () => {
    expect(server.log()).not.toContain('A browser reported a failure');
  });
});
