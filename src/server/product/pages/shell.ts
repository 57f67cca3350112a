import { setTimeout } from 'node:timers/promises';
import { personal, revalidate } from '#engine/server';
import { definePage } from '../context.ts';

let shells = 0;
let visits = 0;

export const shell = definePage({
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
});
