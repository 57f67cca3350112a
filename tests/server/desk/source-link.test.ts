import { describe, expect, it } from 'vitest';
import { parseSourceLink, toSourceLink } from '../../../src/server/desk/source-link.ts';

const PLACE = { file: 'src/shared/a b#?.tsx', line: 7, column: 3, release: 'v1/x', build: 'X7K2' };

describe('toSourceLink', () => {
  it('escapes the values, so that none can end the path', () => {
    expect(toSourceLink('https://code.example/blob/{release}/{file}#L{line}', PLACE)).toBe(
      'https://code.example/blob/v1/x/src/shared/a%20b%23%3F.tsx#L7',
    );
    expect(toSourceLink('vscode://file/home/ada/shop/{file}:{line}:{column}', PLACE)).toBe(
      'vscode://file/home/ada/shop/src/shared/a%20b%23%3F.tsx:7:3',
    );
  });
});

describe('parseSourceLink', () => {
  it.each(['https://code.example/{file}', 'vscode://file/x/{file}:{line}'])('accepts %s', (text) => {
    expect(parseSourceLink(text)).toBe(text);
  });

  it.each([
    '',
    'https://code.example/',
    'javascript://%0aalert(1)//{file}',
    'data://{file}',
    '{file}',
    'https://a b/{file}',
  ])('rejects %s', (text) => {
    expect(parseSourceLink(text)).toBeUndefined();
  });
});
