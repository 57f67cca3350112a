import { createMemoryRouter } from 'react-router';
import { expect, it, onTestFinished, vi } from 'vitest';
import { decodeOnce } from '../../../src/client/navigation/browser-router.ts';

const routes = [
  { path: '/people/:id', children: [{ path: '/people/:id/:tab?' }] },
  { path: '/files/:shelf/*' },
  { path: '/other' },
];

it.each([
  ['/people/%252F', { id: '%2F', tab: undefined }],
  ['/people/..%252Fa/b', { id: '..%2Fa', tab: 'b' }],
  ['/files/%252F/a/%252F%20b', { shelf: '%2F', '*': 'a/%2F b' }],
  ['/files/a/100%/b', { shelf: 'a', '*': '100%/b' }],
])('decodes each parameter of %s once, at the start and after a navigation', async (path, params) => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue(); // React Router's, of `100%`
  onTestFinished(() => warn.mockRestore());
  const started = decodeOnce(createMemoryRouter(routes, { initialEntries: [path] }));
  expect(started.state.matches.map((match) => match.params)).toEqual(started.state.matches.map(() => params));
  const router = decodeOnce(createMemoryRouter(routes, { initialEntries: ['/other'] }));
  const seen: unknown[] = [];
  router.subscribe(({ matches }) => void seen.push(matches));
  await router.navigate(path);
  await router.revalidate();
  expect(router.state.matches.at(-1)?.params).toEqual(params);
  expect(seen.at(-1)).toBe(router.state.matches);
});
