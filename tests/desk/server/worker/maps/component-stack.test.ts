import { describe, expect, it } from 'vitest';
import { parseComponentStack } from '../../../../../src/desk/server/worker/maps/map-reader.ts';

const component = (name: string, file = '', line = 0, column = 0) => ({ function: name, file, line, column });

describe('parseComponentStack', () => {
  it('reads the format of V8, in browsers and on the server', () => {
    const stack = `
    at p (<anonymous>)
    at main
    at e (https://shop.example/assets/cart-X7K2QM2X.js:1:200)
    at Cart (file://[redacted]/dist/server/main.js:8065:9)`;
    expect(parseComponentStack(stack)).toEqual([
      component('p'),
      component('main'),
      component('e', 'client/assets/cart-X7K2QM2X.js', 1, 200),
      component('Cart', 'server/main.js', 8065, 9),
    ]);
  });

  it('reads the format of Firefox and Safari', () => {
    expect(parseComponentStack('Cart@https://shop.example/assets/cart-X7K2QM2X.js:1:200\nmain@\n')).toEqual([
      component('Cart', 'client/assets/cart-X7K2QM2X.js', 1, 200),
      component('main'),
    ]);
  });

  it('omits local paths and files of other sites', () => {
    const stack =
      'at A (/home/ada/shop/secret.js:1:2)\nat B (https://cdn.example/lib.js:1:2)\nat C (/x/dist/../etc.js:1:1)';
    expect(parseComponentStack(stack)).toEqual([component('A'), component('B'), component('C')]);
  });
});
