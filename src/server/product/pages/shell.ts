import { setTimeout } from 'node:timers/promises';
import { personal, revalidate, type ServerPage } from '#engine/server';
import type { ShellActions, ShellData } from '#product/pages/shell/shell.tsx';
import type { AppContext } from '../context.ts';

let shells = 0;
let visits = 0;

export const shell = {
  loader: (args) => {
    shells += 1;
    return {
      renderedAt: new Date(),
      visit: personal(args, async ({ request, signal }) => {
        visits += 1;
        await setTimeout(300, undefined, { signal }); // as slow as a database
        return { languages: request.headers.get('accept-language') ?? 'none', visits, shells };
      }),
    };
  },
  actions: {
    renderAgain: () => revalidate('/tour/shell'),
  },
} satisfies ServerPage<ShellData, AppContext, ShellActions>;
