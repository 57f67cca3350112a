import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../support/owned-app.ts';
import { openPage, useRecipe } from './recipe.ts';

/** A library's page: what it imports and shows, also later, and how its styles are recognized. */
interface Library {
  readonly imports: string;
  readonly shown: string;
  readonly late?: string;
  readonly styled: readonly [selector: string, property: string, value: string][];
  readonly opens?: { readonly selector: string; readonly position: string; readonly locksScroll?: true };
}

const LIBRARIES: Record<string, Library> = {
  mui: {
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
    imports: `import { Box, Button, Modal } from '@mantine/core';`,
    shown: `
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
    imports: `import { toast } from 'sonner';`,
    shown: `<button type="button" onClick={() => toast('Opened')}>Open</button>`,
    styled: [],
    opens: { selector: '[data-sonner-toaster]', position: 'fixed' },
  },
};

const MODES = ['dynamic', 'static', 'shell'] as const;
type Mode = (typeof MODES)[number];

const pages = Object.keys(LIBRARIES).flatMap((name) => MODES.map((mode) => ({ name, mode, path: `/${name}/${mode}` })));
const toId = ({ name, mode }: { name: string; mode: Mode }) => `'${name}.${mode}'`;

const toPage = ({ imports, shown, late }: Library) => `
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

const app = useRecipe(
  'component-libraries',
  (it) => {
    it.write({
      'src/shared/product/routes.tsx': `
        import { defineRoutes } from '#engine';
        export const routes = defineRoutes([{
          id: 'root',
          page: () => import('./pages/root/root.tsx'),
          children: [
            { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },
            { id: 'choice', path: '/choice', page: () => import('./pages/choice.tsx') },
            { id: 'plain', path: '/plain', mode: 'static', page: () => import('./pages/home/home.tsx') },
            ${pages
              .map((page) => {
                const mode = page.mode === 'dynamic' ? '' : `mode: '${page.mode}', `;
                return `{ id: ${toId(page)}, path: '${page.path}', ${mode}page: () => import('./pages/${page.name}.tsx') },`;
              })
              .join('\n')}
          ],
        }]);`,
      'src/server/product/pages/index.ts': `
        import { setTimeout } from 'node:timers/promises';
        import { redirect } from '#engine';
        const guard = ({ url }) => url.searchParams.has('ended') && redirect('/');
        const late = { loader: () => ({ late: setTimeout(200) }) };
        export const pages = {
          root: null, home: null, plain: null, choice: { guard, actions: { save: ({ form }) => [...form].slice(1) } },
          ${pages.map((page) => `${toId(page)}: ${page.mode === 'static' ? null : 'late'}`).join(', ')}
        };`,
      'src/shared/product/pages/root/root.tsx': `
        import { Outlet } from 'react-router';
        import { Link } from '#engine';
        import { Mantine } from '../../ui/mantine.tsx';
        import { Mui } from '../../ui/mui.tsx';
        import { Styled } from '../../ui/styled.tsx';
        import { Toasts } from '../../ui/toasts.tsx';
        export default function Root() {
          return (
            <Mui><Mantine><Styled>
              <main style={{ minHeight: '150vh' }}><Outlet /></main>
              <nav>${pages.map(({ path }) => `<Link to="${path}">${path}</Link> `).join('')}<Link to="/choice">/choice</Link></nav>
              <Toasts />
            </Styled></Mantine></Mui>
          );
        }`,
      'src/shared/product/pages/choice.tsx': CHOICE_PAGE,
      ...Object.fromEntries(
        Object.entries(LIBRARIES).map(([name, it]) => [`src/shared/product/pages/${name}.tsx`, toPage(it)]),
      ),
    });
  },
  { withPackages: true },
);

let server: RunningApp;
beforeAll(async () => {
  server = await startApp(app.folder);
});
afterAll(async () => void (await server?.stop()));

const open = (path: string, options: BrowserContextOptions = {}) =>
  openPage(server.url + path, { viewport: { width: 900, height: 600 }, ...options });

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

const names = Object.keys(LIBRARIES);

it.each(names.flatMap((name) => MODES.map((mode) => [name, mode] as const)))(
  '%s is styled without JavaScript, and works without a violation or a mismatch: a %s page',
  async (name, mode) => {
    const library = LIBRARIES[name] as Library;
    const path = `/${name}/${mode}`;
    const bare = await open(`${path}${mode === 'static' ? '' : '?_whole=1'}`, { javaScriptEnabled: false });
    await expectStyled(bare.page, library);
    const { page, complaints } = await open(path);
    await expectStyled(page, library);
    await expectOpens(page, library);
    expect(complaints).toEqual([]);
  },
);

it.each(
  names.flatMap((name) =>
    [
      ['/', 'dynamic'],
      ['/', 'static'],
      ['/plain', 'dynamic'],
    ].map((way) => [name, ...way]),
  ),
)('%s works after a navigation from %s to a %s page', async (name = '', from = '', mode = '') => {
  const library = LIBRARIES[name] as Library;
  const { page, complaints, documents } = await open(from);
  await page.getByRole('link', { name: `/${name}/${mode}` }).click();
  await page.getByText(library.opens ? 'Open' : 'Styled', { exact: true }).waitFor();
  await expectStyled(page, library);
  await expectOpens(page, library);
  expect(complaints).toEqual([]);
  expect(documents).toEqual([from]);
});

it('what was chosen with radix is there again after a guard has redirected the form', async () => {
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
