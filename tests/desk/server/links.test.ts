import { expect, it } from 'vitest';
import { fillLink, parseIssueLink, parseSourceLink, parseTraceLink } from '../../../src/desk/server/links.ts';

const PLACE = { file: 'src/shared/a b#?.tsx', line: 7, release: 'v1/x', title: '../x?a=1&b=#{digest} \ud83d' };

it.each([
  ['https://code.example/{release}/{file}#L{line}', true, 'https://code.example/v1/x/src/shared/a%20b%23%3F.tsx#L7'],
  [
    'https://issues.example/new?title={title}',
    false,
    'https://issues.example/new?title=..%2Fx%3Fa%3D1%26b%3D%23%7Bdigest%7D%20%EF%BF%BD',
  ],
])('all of a text from strangers is escaped in %s, so that none can end its part', (template, isPath, link) => {
  expect(fillLink(template, PLACE, { isPath })).toBe(link);
});

it.each([
  {
    parse: parseSourceLink,
    good: ['https://code.example/{file}', 'vscode://file/x/{file}:{line}'],
    bad: [
      '',
      'https://code.example/',
      'javascript://%0aalert(1)//{file}',
      'data://{file}',
      '{file}',
      'https://a b/{file}',
    ],
  },
  {
    parse: parseIssueLink,
    good: ['https://issues.example/new?title={title}&body={url}', 'http://issues.example/{digest}'],
    bad: [
      ...['', 'https://issues.example/new?title={title}', 'https://issues.example/{digest}?{titel}'],
      ...['javascript:alert({digest})', 'mailto:{digest}', 'https://issues.example/ {digest}', 'https:///{digest}'],
    ],
  },
  {
    parse: parseTraceLink,
    good: ['https://traces.example/{traceId}'],
    bad: ['', 'https://traces.example/', 'https://traces.example/{traceId}/{spanId}', 'javascript://x/{traceId}'],
  },
])('$parse.name accepts only safe templates', ({ parse, good, bad }) => {
  expect(good.map(parse)).toEqual(good);
  expect(bad.filter((text) => parse(text) !== undefined)).toEqual([]);
});
