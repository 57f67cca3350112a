import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/server/config.ts';
import { fillLink, parseIssueLink, parseSourceLink, parseTraceLink } from '../../../src/server/desk/links.ts';

const PLACE = { file: 'src/shared/a b#?.tsx', line: 7, column: 3, release: 'v1/x', build: 'X7K2' };

describe('fillLink', () => {
  it('escapes the values, so that none can end the path', () => {
    expect(fillLink('https://code.example/blob/{release}/{file}#L{line}', PLACE, { isPath: true })).toBe(
      'https://code.example/blob/v1/x/src/shared/a%20b%23%3F.tsx#L7',
    );
    expect(fillLink('vscode://file/home/ada/shop/{file}:{line}:{column}', PLACE, { isPath: true })).toBe(
      'vscode://file/home/ada/shop/src/shared/a%20b%23%3F.tsx:7:3',
    );
  });

  it('escapes all of a text from strangers, also half a character', () => {
    const title = '../x?a=1&b=#{digest} \ud83d';
    expect(fillLink('https://issues.example/new?title={title}', { title, digest: '7K3QM2XA' })).toBe(
      'https://issues.example/new?title=..%2Fx%3Fa%3D1%26b%3D%23%7Bdigest%7D%20%EF%BF%BD',
    );
  });
});

describe.each([
  [
    'parseSourceLink',
    parseSourceLink,
    ['https://code.example/{file}', 'vscode://file/x/{file}:{line}'],
    ['', 'https://code.example/', 'javascript://%0aalert(1)//{file}', 'data://{file}', '{file}', 'https://a b/{file}'],
  ],
  [
    'parseIssueLink',
    parseIssueLink,
    ['https://issues.example/new?title={title}&body={url}', 'http://issues.example/{digest}'],
    [
      '',
      'https://issues.example/new?title={title}',
      'https://issues.example/{digest}?{titel}',
      'javascript:alert({digest})',
      'mailto:{digest}',
      'https://issues.example/ {digest}',
      'https:///{digest}',
    ],
  ],
  [
    'parseTraceLink',
    parseTraceLink,
    ['https://traces.example/{traceId}'],
    ['', 'https://traces.example/', 'https://traces.example/{traceId}/{spanId}', 'javascript://x/{traceId}'],
  ],
])('%s', (_name, parse, good, bad) => {
  it.each(good)('accepts %s', (text) => {
    expect(parse(text)).toBe(text);
  });

  it.each(bad)('rejects %s', (text) => {
    expect(parse(text)).toBeUndefined();
  });
});

it('a wrong template stops the start', () => {
  expect(() => readConfig({ ISSUE_LINK: 'https://issues.example/', TRACE_LINK: 'https://traces.example/' })).toThrow(
    /The setting ISSUE_LINK is not an http\(s\) URL that contains \{digest\} or \{url\}[\s\S]*The setting TRACE_LINK is not/,
  );
});
