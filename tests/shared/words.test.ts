import { expect, it } from 'vitest';
import { toErrorHint } from '../../src/shared/words.ts';

it('knows what to do about errors that say too little', () => {
  expect(toErrorHint('ReferenceError: window is not defined')).toContain('Move it to an effect');
  expect(toErrorHint('NonError: no profile')).toContain('Throw `new Error(…)`');
  expect(toErrorHint('NonError: an object that is no Error: Response {}')).toContain('`notFound()`');
  expect(toErrorHint("ReferenceError: Cannot access 'pages' before initialization")).toContain('import each other');
  expect(toErrorHint("TypeError: Cannot read properties of undefined (reading 'VITE_KEY')")).toContain(
    'public-settings',
  );
  expect(toErrorHint('ReferenceError: windows is not defined')).toBeUndefined();
});
