import { expect, it } from 'vitest';
import { parseStack, toFrameFile } from '../../../../src/server/errors/digest/read-error.ts';

const PATHS = { dist: '/app/dist' };

/** Returns `function file:line:column`, with `async` in front of frames that only waited. */
function framesOf(stack: string, message = '') {
  return parseStack(stack, PATHS, message).map(({ function: name, file, line, column, async }) =>
    `${async ? 'async ' : ''}${name} ${file}:${line}:${column}`.trim(),
  );
}

it.each([
  ['at checkout (file:///app/dist/server/main.js:10:5)', 'checkout server/main.js:10:5'],
  ['at /app/dist/server/main.js:10:5', 'server/main.js:10:5'],
  ['at async Cart.pay (/app/dist/server/main.js:1:2)', 'async Cart.pay server/main.js:1:2'],
  ['at async file:///app/dist/server/main.js:1:2', 'async  server/main.js:1:2'],
  ['at new Cart (file:///app/dist/server/main.js:1:200)', 'new Cart server/main.js:1:200'],
  ['at Object.a [as b] (/app/dist/server/main.js:1:2)', 'Object.a [as b] server/main.js:1:2'],
  ['at f (/app/src/(group)/page.tsx:3:4)', 'f src/(group)/page.tsx:3:4'],
  ['at Array.map (<anonymous>)', 'Array.map :0:0'],
  ['at <anonymous>', ':0:0'],
  ['at async Promise.all (index 0)', 'async Promise.all :0:0'],
  ['at process.tick (node:internal/process/task_queues:105:5)', 'process.tick node:internal/process/task_queues:105:5'],
  ['at eval (eval at run (/app/dist/server/main.js:7:8), <anonymous>:1:1)', 'eval :1:1'],
  ['at q (C:\\work\\node_modules\\pg\\lib\\client.js:3:4)', 'q node_modules/pg/lib/client.js:3:4'],
])("V8's frame %s", (line, frame) => {
  expect(framesOf(`Error: x\n    ${line}`)).toEqual([frame]);
});

it("V8's frames are not read from the message", () => {
  const message = 'no\n    at forged (/app/dist/server/main.js:1:1)';
  expect(framesOf(`Error: ${message}\n    at real (/app/dist/server/main.js:2:2)`, message)).toEqual([
    'real server/main.js:2:2',
  ]);
});

it.each([
  ['a long list of frames', `Error: x\n${'    at f (/x.js:1:1)\n'.repeat(50_000)}`],
  ['brackets', `Error: x\n    at ${'('.repeat(1_000_000)}`],
  ['blanks', `Error: x\n    at${' '.repeat(1_000_000)}x`],
  ['line ends', '\n'.repeat(1_000_000)],
])('reads only a bounded part of a megabyte of %s', (_what, stack) => {
  expect(parseStack(stack, PATHS).length).toBeLessThanOrEqual(100);
});

it.each([
  ['file:///app/dist/server/main.js', 'server/main.js'],
  ['/app/dist/client/assets/home-X7K2QM2X.js', 'client/assets/home-X7K2QM2X.js'],
  ['file:///app/src/server/product/cart.ts?t=1', 'src/server/product/cart.ts'],
  ['/app/node_modules/a/node_modules/pg/lib/client.js', 'node_modules/pg/lib/client.js'],
  ['file:///app/dist/server/a%20b.js', 'server/a b.js'],
  ['/app/dist//app/dist/main.js', 'app/dist/main.js'],
  ['/app//src/server/app.ts', 'src/server/app.ts'],
  ['/home/ann/linked/index.js', '../index.js'],
  ['https://cdn.example/lib.js?key=secret', 'https://cdn.example/lib.js'],
  ['<anonymous>', ''],
  ['[native code]', ''],
  ['file:///%E0%A4', '../%E0%A4'],
])('the name of a script is normalized: %s', (location, file) => {
  expect(toFrameFile(location, PATHS)).toBe(file);
});

it('the name of a script is normalized on Windows too', () => {
  const paths = { dist: 'C:\\app\\dist' };
  expect(toFrameFile('C:\\app\\dist\\server\\main.js', paths)).toBe('server/main.js');
  expect(toFrameFile('file:///C:/app/src/server/app.ts', paths)).toBe('src/server/app.ts');
});
