import { afterEach, expect, it, vi } from 'vitest';
import { startOrExit } from '../../../src/server/start/start.ts';

afterEach(() => vi.restoreAllMocks());

function start(stack: string): Promise<void> {
  vi.spyOn(process, 'argv', 'get').mockReturnValue(['node', 'main.js']);
  const load = () => Promise.reject(Object.assign(new Error('settings broke'), { stack }));
  return startOrExit({ dist: '/app/dist', tracker: undefined, load });
}

it('names the line of the product that threw, in place of the line of its bundle', async () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await start(
    'Error: settings broke\n    at /app/src/server/product/settings.ts:4:58\n    at /app/src/server/define-product.ts:1:2',
  );
  const said = 'The server does not start:\nError: settings broke\n    at src/server/product/settings.ts:4\n';
  expect([write.mock.calls, exit.mock.calls]).toEqual([[[said]], [[1]]]);
});

it("throws an error that has no line of the product's", async () => {
  await expect(start('Error: settings broke\n    at /app/src/server/define-product.ts:1:2')).rejects.toThrow(
    'settings broke',
  );
});
