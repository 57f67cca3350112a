import { expect, it } from 'vitest';
import { parseArguments } from '../../../src/server/doctor/parse-arguments.ts';

it('accepts the URL of a site, and removes its path', () => {
  expect(parseArguments([])).toMatchObject({ site: undefined, json: false, help: false });
  const parsed = parseArguments(['https://www.example.com/a/page?x=1', '--json', '--token-file', 'token']);
  expect(parsed.site?.href).toBe('https://www.example.com/');
  expect(parsed).toMatchObject({ json: true, tokenFile: 'token' });
  expect(parseArguments(['http://[::1]:3000']).site?.origin).toBe('http://[::1]:3000');
});

it('shows the help', () => {
  for (const args of [['help'], ['--help'], ['-h'], ['https://a.example', '-h']])
    expect(parseArguments(args).help).toBe(true);
});

it.each([
  [['www.example.com'], 'https:// in front'],
  [['ftp://example.com'], 'https:// in front'],
  [['https://ada:secret@example.com'], 'user and password'],
  [['https://a.example', 'https://b.example'], 'Name one site'],
  [['--token-file', 'x'], 'name one'],
  [['--jsn'], '--jsn'],
  [['https://a.example', '--token-file'], '--token-file'],
])('rejects %j', (args, words) => {
  expect(() => parseArguments(args)).toThrow(words);
  expect(() => parseArguments(args)).not.toThrow('secret');
});
