import { renderToStaticMarkup } from 'react-dom/server';
import { MemoryRouter } from 'react-router';
import { expect, it } from 'vitest';
import { NavLink } from '../../../src/shared/routing/link.tsx';

it.each([
  ['/list', '/list?page=1', 'page'],
  ['/list', '?page=2', 'page'],
  ['/list', '/list/7#top', undefined],
  ['/list/7', '/list', 'true'],
  ['/list/7', '?page=2', 'page'],
  ['/gr%C3%B6%C3%9Fe/7', '/größe', 'true'],
  ['/gr%C3%B6%C3%9Fe', '/gr%C3%B6%C3%9Fe', 'page'],
  ['/list', '/\ud83d', undefined],
])('on %s, the link to %s is marked as %s', (at, to, current) => {
  const html = renderToStaticMarkup(
    <MemoryRouter initialEntries={[at]}>
      <NavLink to={to}>There</NavLink>
    </MemoryRouter>,
  );
  expect(/aria-current="(\w+)"/.exec(html)?.[1]).toBe(current);
});
