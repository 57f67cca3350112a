import { describe, expect, it } from 'vitest';
import { toFrameFile } from '../../../../src/server/errors/digest/frame-file.ts';

describe('the name of a script', () => {
  it.each([
    ['file:///app/dist/server/main.js', 'server/main.js'],
    ['/app/dist/client/assets/home-X7K2QM2X.js', 'client/assets/home-X7K2QM2X.js'],
    ['https://shop.example/assets/home.js?v=1#x', 'client/assets/home.js'],
    ['file:///app/src/server/product/cart.ts?t=1', 'src/server/product/cart.ts'],
    ['/app/node_modules/a/node_modules/pg/lib/client.js', 'node_modules/pg/lib/client.js'],
    ['file:///app/dist/server/a%20b.js', 'server/a b.js'],
    ['/app/dist//app/dist/main.js', 'app/dist/main.js'],
    ['/app//src/server/app.ts', 'src/server/app.ts'],
    ['/home/ann/linked/index.js', '../index.js'],
    ['https://cdn.example/lib.js?key=secret', 'https://cdn.example/lib.js'],
    ['https://cdn.example/assets/lib.js', 'https://cdn.example/assets/lib.js'],
    ['https://shop.example/orders/7', ''],
    ['chrome-extension://abc/content.js', 'chrome-extension://abc/content.js'],
    ['<anonymous>', ''],
    ['[native code]', ''],
    ['file:///%E0%A4', '../%E0%A4'],
  ])('is normalized: %s', (location, file) => {
    expect(toFrameFile(location, { dist: '/app/dist', origins: ['https://shop.example'] })).toBe(file);
  });

  it('is normalized on Windows too', () => {
    const paths = { dist: 'C:\\app\\dist' };
    expect(toFrameFile('C:\\app\\dist\\server\\main.js', paths)).toBe('server/main.js');
    expect(toFrameFile('file:///C:/app/src/server/app.ts', paths)).toBe('src/server/app.ts');
  });

  it("is its path if the site's origins are not known", () => {
    expect(toFrameFile('https://any.example/assets/home.js', { dist: '/app/dist' })).toBe('client/assets/home.js');
  });
});
