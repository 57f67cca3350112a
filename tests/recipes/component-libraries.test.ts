import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { shareBrowser, watch } from '../support/browser.ts';
import { useRecipe } from './recipe.ts';

const LIBRARIES = ['mui', 'mantine', 'radix', 'styled', 'sonner'] as const;
type Library = (typeof LIBRARIES)[number];
const MODES = ['', 'static', 'shell'] as const;

const toPage = (body: string, head: string) => `
  import { use, Suspense } from 'react';
  import { useState } from 'react';
  ${head}
  function Late({ data }) { return data ? use(data.late) : null; }
  export default function Page({ data }) {
    return <><title>Page</title>${body}</>;
  }`;

const routes = LIBRARIES.flatMap((library) =>
  MODES.map((mode) => ({ id: `${library}${mode}`, path: `/${library}/${mode}`, mode, library })),
);

const app = useRecipe(
  'component-libraries',
  (it) => {
    it.write({
      'src/shared/product/routes.tsx': `
        import { defineRoutes } from '#engine';
        export const routes = defineRoutes([{
          id: 'root', page: () => import('./pages/root/root.tsx'), children: [
            { id: 'home', path: '/', page: () => import('./pages/home/home.tsx') },
            ${routes.map(({ id, path, mode, library }) => `{ id: '${id}', path: '${path.replace(/\/$/, '')}', ${mode ? `mode: '${mode}',` : ''} page: () => import('./pages/${library}.tsx') }`).join(',\n')}
          ] }]);`,
      'src/server/product/pages/index.ts': `
        import { setTimeout } from 'node:timers/promises';
        const late = { loader: () => ({ late: setTimeout(300) }) };
        export const pages = { root: null, home: null, ${routes.map(({ id, mode }) => `${id}: ${mode === 'static' ? 'null' : 'late'}`).join(', ')} };`,
      'src/shared/product/pages/root/root.tsx': `
        import { Outlet } from 'react-router';
        import { Link } from '#engine';
        import { Mui } from '../../ui/mui.tsx';
        import { Mantine } from '../../ui/mantine.tsx';
        import { Styled } from '../../ui/styled.tsx';
        import { Toasts } from '../../ui/toasts.tsx';
        export default function Root() {
          return (
            <Mui><Mantine><Styled>
              <main style={{ minHeight: '200vh' }}>
                <nav>${routes.map(({ id, path }) => `<Link to="${path.replace(/\/$/, '')}">${id}</Link> `).join('')}</nav>
                <Outlet />
              </main>
              <Toasts />
            </Styled></Mantine></Mui>
          );
        }`,
      'src/shared/product/pages/mui.tsx': toPage(
        `<MuiPage /><Suspense fallback="…"><Late data={data} /><Alert severity="info">Late</Alert></Suspense>`,
        `import { Alert, Button, Dialog, DialogContent } from '@mui/material';
         function MuiPage() {
           const [isOpen, setOpen] = useState(false);
           return <>
             <Button id="styled" variant="contained" onClick={() => setOpen(true)}>Open</Button>
             <Dialog open={isOpen} onClose={() => setOpen(false)}><DialogContent>Opened</DialogContent></Dialog>
           </>;
         }`,
      ),
      'src/shared/product/pages/mantine.tsx': toPage(
        `<MantinePage /><Suspense fallback="…"><Late data={data} /><Box id="late" p={{ base: 1, xs: 7 }}>Late</Box></Suspense>`,
        `import { Box, Button, Modal } from '@mantine/core';
         function MantinePage() {
           const [isOpen, setOpen] = useState(false);
           return <>
             <Button id="styled" p={{ base: 3, xs: 13 }} onClick={() => setOpen(true)}>Open</Button>
             <Modal opened={isOpen} onClose={() => setOpen(false)}>Opened</Modal>
           </>;
         }`,
      ),
      'src/shared/product/pages/radix.tsx': toPage(
        `<Dialog.Root>
           <Dialog.Trigger>Open</Dialog.Trigger>
           <Dialog.Portal>
             <Dialog.Overlay style={{ position: 'fixed', inset: 0, background: '#0008' }} />
             <Dialog.Content style={{ position: 'fixed', top: 99, left: 99, padding: 20, background: 'Canvas' }} aria-describedby={undefined}>
               <Dialog.Title>Opened</Dialog.Title>
             </Dialog.Content>
           </Dialog.Portal>
         </Dialog.Root>
         <Scrollable>{Array.from({ length: 20 }, (_, i) => <p key={i}>Line {i}</p>)}</Scrollable>
         <Suspense fallback="…"><Late data={data} /><Scrollable>Late</Scrollable></Suspense>`,
        `import { Dialog } from 'radix-ui'; import { Scrollable } from '../ui/scroll-area.tsx';`,
      ),
      'src/shared/product/pages/styled.tsx': toPage(
        `<Button id="styled" $wide>Open</Button><Suspense fallback="…"><Late data={data} /><Text id="late">Late</Text></Suspense>`,
        `import { styled } from 'styled-components';
         const Button = styled.button\`padding: 1px 17px; background: rebeccapurple; color: white;\`;
         const Text = styled.p\`padding: 7px; outline: 1px solid\`;`,
      ),
      'src/shared/product/pages/sonner.tsx': toPage(
        `<button onClick={() => toast('Opened')}>Open</button>`,
        `import { toast } from 'sonner';`,
      ),
    });
  },
  { withPackages: true },
);

let url: string;
it('tries', async () => {
  const server = await app.start({ DEV_NO: '1' });
  url = server.url;
  console.log(app.folder, url);
  const browser = await shareBrowser();
  for (const { path, library, mode, id } of routes) {
    if (process.env.LIB && process.env.LIB !== id) continue;
    const context = await browser.newContext({
      userAgent: 'Mozilla/5.0 Chrome/150.0.0.0',
      viewport: { width: 900, height: 600 },
    });
    const page = await context.newPage();
    const seen = await watch(page);
    await page.goto(url + path.replace(/\/$/, ''));
    await page.waitForFunction(() => history.scrollRestoration === 'manual');
    await page.waitForTimeout(800);
    const looks = await look(page, library);
    if (library !== 'styled') await page.getByRole('button', { name: 'Open' }).click();
    if (library !== 'styled') await page.getByText('Opened').first().waitFor();
    await page.waitForTimeout(300);
    const lock = await page.evaluate(() => getComputedStyle(document.body).overflow);
    await page.screenshot({ path: `/tmp/w-style-${id}.png` });
    console.log(id, JSON.stringify({ looks, lock, complaints: seen.complaints }));
    await context.close();
    const bare = await browser.newContext({ javaScriptEnabled: false, userAgent: 'Mozilla/5.0 Chrome/150.0.0.0' });
    const plain = await bare.newPage();
    await plain.goto(url + path.replace(/\/$/, ''));
    await plain.waitForTimeout(1500);
    console.log(id, 'no JS', JSON.stringify(await look(plain, library)));
    await bare.close();
  }
  console.log(
    server
      .log()
      .split('\n')
      .filter((line) => /fail|hydr|error/i.test(line))
      .join('\n')
      .slice(0, 6000),
  );
}, 600_000);

function look(page: Page, library: Library): Promise<string> {
  return page.evaluate((name) => {
    const of = (selector: string, property: string) => {
      const element = document.querySelector(selector);
      return element ? `${selector} ${getComputedStyle(element).getPropertyValue(property)}` : `no ${selector}`;
    };
    switch (name) {
      case 'mui':
        return of('#styled', 'background-color') + of('.MuiAlert-root', 'display');
      case 'mantine':
        return of('#styled', 'background-color') + of('#styled', 'padding-top') + of('#late', 'padding-top');
      case 'radix':
        return of('[data-radix-scroll-area-viewport]', 'scrollbar-width');
      case 'styled':
        return of('#styled', 'padding-left') + of('#late', 'padding-top');
      default:
        return of('[data-sonner-toaster]', 'position');
    }
  }, library);
}
