import { expect, it } from 'vitest';
import { layout } from '#product-server/pages/layout.ts';
import { layoutTab } from '#product-server/pages/layout-tab.ts';
import { loaderArgs } from '../../../support/product/page-args.ts';

it('finds a page for every entry of the list', () => {
  const { tabs } = layout.loader(loaderArgs());
  expect(tabs).not.toHaveLength(0);
  for (const { id, name } of tabs) expect(layoutTab.loader(loaderArgs({ params: { tab: id } })).name).toBe(name);
});

it.each(['castle-in-the-air', 'constructor'])('answers 404 for %s', (tab) => {
  expect(() => layoutTab.loader(loaderArgs({ params: { tab } }))).toThrow(expect.objectContaining({ status: 404 }));
});
