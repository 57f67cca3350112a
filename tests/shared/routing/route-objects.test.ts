import { Outlet } from 'react-router';
import { expect, it } from 'vitest';
import { createRouteTree } from '../../../src/shared/routing/route-objects.ts';
import type { RouteDefinition } from '../../../src/shared/routing/routes.ts';

const page = async () => ({ default: Outlet });

it('puts the not-found page into the first layout, or into the frame', () => {
  const home: RouteDefinition = { id: 'home', path: '/', page };
  const branchOf = (table: RouteDefinition[]) => createRouteTree(table).branchOf('@not-found');
  expect(branchOf([{ id: 'root', page, children: [home] }])).toEqual(['@frame', 'root', '@not-found']);
  for (const table of [[home], []]) expect(branchOf(table)).toEqual(['@frame', '@not-found']);
});

it.each(['root', '@frame', '@not-found'])('rejects a second route with the id %s, and says what to do', (id) => {
  const table: RouteDefinition[] = [
    { id: 'root', path: '/', page },
    { id, path: '/again', page },
  ];
  expect(() => createRouteTree(table)).toThrow(
    `Two routes have the id "${id}". Give each route of the table an id of its own.`,
  );
});
