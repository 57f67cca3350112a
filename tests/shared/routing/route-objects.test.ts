import { Outlet } from 'react-router';
import { expect, it } from 'vitest';
import { createRouteTree } from '../../../src/shared/routing/route-objects.ts';
import type { RouteDefinition } from '../../../src/shared/routing/routes.ts';

const page = async () => ({ default: Outlet });

it.each(['root', '@frame', '@not-found'])('rejects a second route with the id %s, and says what to do', (id) => {
  const table: RouteDefinition[] = [
    { id: 'root', path: '/', page },
    { id, path: '/again', page },
  ];
  expect(() => createRouteTree(table)).toThrow(
    `Two routes have the id "${id}". Give each route of the table an id of its own.`,
  );
});
