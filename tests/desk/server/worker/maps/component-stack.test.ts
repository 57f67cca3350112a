import { expect, it } from 'vitest';
import { parseComponentStack } from '../../../../../src/desk/server/worker/maps/map-reader.ts';

const component = (name: string, file = '', line = 0, column = 0) => ({ function: name, file, line, column });
const CART = component('Cart', 'client/assets/cart-X7K2QM2X.js', 1, 200);

it.each([
  [
    'the format of V8, in browsers and on the server',
    `
    at p (<anonymous>)
    at main
    at Cart (https://shop.example/assets/cart-X7K2QM2X.js:1:200)
    at Root (file://[redacted]/dist/server/main.js:8065:9)`,
    [component('p'), component('main'), CART, component('Root', 'server/main.js', 8065, 9)],
  ],
  [
    'the format of Firefox and Safari',
    'Cart@https://shop.example/assets/cart-X7K2QM2X.js:1:200\nmain@\n',
    [CART, component('main')],
  ],
  [
    'no local paths and files of other sites',
    'at A (/home/ada/shop/secret.js:1:2)\nat B (https://cdn.example/lib.js:1:2)\nat C (/x/dist/../etc.js:1:1)',
    [component('A'), component('B'), component('C')],
  ],
])('parseComponentStack reads %s', (_what, stack, expected) => {
  expect(parseComponentStack(stack)).toEqual(expected);
});
