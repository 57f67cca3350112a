import { expect, it } from 'vitest';
import { ignoredReasonOf, isNotFoundTransaction, type Seen } from '../../../src/server/reports/ignored-errors.ts';

const own = 'client/assets/home-X7K2QM2X.js';
const extension = 'chrome-extension://abcdef/content.js';

function report(message: string, files: readonly string[] = [], name = 'Error'): Seen {
  return {
    errors: [{ class: name, message, frames: files.map((file) => ({ file, line: 1, column: 1, function: '' })) }],
  };
}

it.each([
  ['a control-flow response', report('redirect', [own], 'ControlFlowResponse'), 'outcome'],
  ['Chrome on resizing', report('ResizeObserver loop completed with undelivered notifications.'), 'resize-observer'],
  ['an extension in Chrome', report('x is null', [extension]), 'extension'],
  [
    'an extension in Firefox',
    report('x is null', ['https://cdn.example/lib.js', 'moz-extension://a/b.js']),
    'extension',
  ],
  ['an extension that was updated', report('Extension context invalidated.'), 'extension'],
  ['Facebook on iOS', report("Can't find variable: _AutofillCallbackHandler"), 'in-app-browser'],
  ['Chrome on iOS', report("undefined is not an object (evaluating '__gCrWeb.instantSearch')"), 'in-app-browser'],
  [
    'a web view on iOS',
    report("undefined is not an object (evaluating 'window.webkit.messageHandlers.x')"),
    'in-app-browser',
  ],
  [
    'a mail scanner',
    report(
      'Non-Error promise rejection captured with value: Object Not Found Matching Id:3, MethodName:update, ParamCount:4',
    ),
    'scanner',
  ],
  [
    'a video that was paused',
    report('The play() request was interrupted by a call to pause().', [own], 'AbortError'),
    'media',
  ],
  ['a page that was left early', report('TypeError: Failed to fetch'), 'leaving'],
  ['one that was left early in development', report('Uncaught TypeError: Failed to fetch'), 'leaving'],
])('ignores %s', (_name, seen, reason) => {
  expect(ignoredReasonOf(seen)).toBe(reason);
});

it.each([
  ['a failure of the app', report("Cannot read properties of undefined (reading 'total')", [own], 'TypeError')],
  ['a request of a page that was ready', report('Failed to fetch', [], 'TypeError')],
  ['a chunk that does not load', report('TypeError: Failed to fetch dynamically imported module: /assets/a.js')],
  ['one called by an extension', report('x is null', [own, extension])],
  [
    'one with raw frames of a browser',
    { ...report('x is null', ['https://a.example/assets/a.js', extension]), request: { url: 'https://a.example/x' } },
  ],
  ['a fetch through a wrapper of an extension', report('Failed to fetch', [extension, own], 'TypeError')],
  ['an abort without a page unload', report('The operation was aborted.', [own], 'AbortError')],
  [
    'a chunk that does not load',
    report('Failed to fetch dynamically imported module: https://x.example/a.js', [], 'TypeError'),
  ],
  ['a script from another origin', report('Script error.')],
  ['nothing', { errors: [] }],
  ['a message that only quotes', report('No text for "ResizeObserver loop limit exceeded"', [own])],
])('does not ignore %s', (_name, seen) => {
  expect(ignoredReasonOf(seen)).toBeUndefined();
});

it.each([
  [{ contexts: { trace: { status: 'not_found' } } }, true],
  [{ contexts: { response: { status_code: 404 } } }, true],
  [{ contexts: { trace: { data: { 'http.response.status_code': 404 } } } }, true],
  [{ tags: { 'http.status_code': '404' } }, true],
  [{ contexts: { trace: { status: 'ok' }, response: { status_code: 200 } } }, false],
  [{ contexts: { trace: { status: 'internal_error' } }, tags: { 'http.status_code': 500 } }, false],
  [{ transaction: '/404' }, false],
  [null, false],
  ['404', false],
])('transactions %j: %s', (payload, expected) => {
  expect(isNotFoundTransaction(payload)).toBe(expected);
});
