import { expect, it } from 'vitest';
import { isLoadFailure, isNetworkFailure } from '../../../src/client/reporting/thrown.ts';

it.each([
  [isNetworkFailure, 'Failed to fetch'],
  [isNetworkFailure, 'network error'],
  [isNetworkFailure, 'NetworkError when attempting to fetch resource.'],
  [isNetworkFailure, 'Load failed'],
  [isLoadFailure, 'Failed to fetch dynamically imported module: https://a.example/assets/a-X.js'],
  [isLoadFailure, 'error loading dynamically imported module: https://a.example/assets/a-X.js'],
  [isLoadFailure, 'Importing a module script failed.'],
])('%o recognizes the message of a browser: %s', (recognizes, message) => {
  expect(recognizes(new TypeError(message))).toBe(true);
  expect(isNetworkFailure(new Error(message))).toBe(false);
});
