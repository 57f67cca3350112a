import { Outlet } from 'react-router';
import { describe, expect, it } from 'vitest';
import { createRouteTree } from '../../../../src/shared/engine/routing/route-objects.ts';
import type { RouteDefinition } from '../../../../src/shared/engine/routing/routes.ts';

const page = async () => ({ default: Outlet });

const TABLE: readonly RouteDefinition[] = [
  {
    id: 'root',
    page,
    children: [
      { id: 'home', path: '/', page },
      { id: 'shop', page, children: [{ id: 'order', path: '/orders/:id', page }] },
    ],
  },
  { id: 'bare', path: '/bare', page },
];

describe('createRouteTree', () => {
  it('puts the frame around the table, and the not-found page into the first layout', () => {
    const { objects, branchOf, byId } = createRouteTree(TABLE);
    expect(objects.map(({ id }) => id)).toEqual(['@frame']);
    expect(objects[0]?.children?.map(({ id }) => id)).toEqual(['root', 'bare']);
    expect(byId.root?.children?.map(({ id }) => id)).toEqual(['home', 'shop', '@not-found']);
    expect(branchOf('order')).toEqual(['@frame', 'root', 'shop', 'order']);
    expect(branchOf('bare')).toEqual(['@frame', 'bare']);
    expect(branchOf('@not-found')).toEqual(['@frame', 'root', '@not-found']);
  });

  it('puts the not-found page into the frame if there is no layout', () => {
    expect(createRouteTree([{ id: 'home', path: '/', page }]).branchOf('@not-found')).toEqual(['@frame', '@not-found']);
    expect(createRouteTree([]).branchOf('@not-found')).toEqual(['@frame', '@not-found']);
  });

  it.each(['root', '@frame', '@not-found'])('rejects a second route with the id %s, and says what to do', (id) => {
    expect(() => createRouteTree([...TABLE, { id, path: '/again', page }])).toThrow(
      `Two routes have the id "${id}". Give each route of the table an id of its own.`,
    );
  });
});
