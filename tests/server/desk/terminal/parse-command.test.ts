import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../../src/server/desk/terminal/parse-command.ts';
import { UsageError } from '../../../../src/server/terminal/terminal-error.ts';
import { Day } from '../../../../src/shared/units.ts';

const NOW = Date.UTC(2026, 10, 21);
const parse = (line: string) => parseCommand(line === '' ? [] : line.split(' '), NOW);

describe('a command', () => {
  it('lists open incidents by default, like the page', () => {
    expect(parse('')).toMatchObject({ is: 'list', limit: 30, json: false, view: { state: 'open', sort: 'last' } });
    expect(parse('--state all --side browser --kind csp --sort count --limit 5 --json --within 7d')).toMatchObject({
      is: 'list',
      limit: 5,
      json: true,
      view: { state: 'all', side: 'browser', kind: 'csp', sort: 'count', within: '7d' },
    });
    expect(
      parse('list --search total --route /orders/:id --release v1 --environment staging --assignee -'),
    ).toMatchObject({
      view: { search: 'total', route: '/orders/:id', release: 'v1', environment: 'staging', assignee: '-' },
    });
  });

  it('shows what it names', () => {
    expect(parse('7k3qm2xa')).toEqual({ is: 'show', text: '7k3qm2xa', json: false });
    expect(parse('7K3QM2XA 9F4W0R6B --json')).toEqual({ is: 'show', text: '7K3QM2XA 9F4W0R6B', json: true });
    expect(parse('4bf92f3577b34da6a3ce929d0e0e4736')).toMatchObject({ is: 'show' });
    for (const id of ['-S3K30z6tr2vPcw0xgH4IQ', '--3K30z6tr2vPcw0xgH4IQ']) {
      expect(parse(`${id} --json`)).toEqual({ is: 'show', text: id, json: true });
    }
  });

  it('changes states', () => {
    expect(parse('resolve 7k3q-m2xa --in next --as ada')).toEqual({
      is: 'change',
      digests: ['7K3QM2XA'],
      to: { state: 'resolved', in: 'next' },
      author: 'ada',
    });
    expect(parse('resolve 7K3QM2XA 7k3qm2xa 0000000A')).toMatchObject({ digests: ['7K3QM2XA', '0000000A'] });
    expect(parse('ignore 7K3QM2XA')).toMatchObject({ to: { state: 'ignored' }, author: undefined });
    expect(parse('ignore 7K3QM2XA --for 7d')).toMatchObject({ to: { state: 'ignored', until: NOW + 7 * Day } });
    expect(parse('ignore 7K3QM2XA --until-more 100')).toMatchObject({ to: { state: 'ignored', growth: 100 } });
    expect(parse('reopen 7K3QM2XA')).toMatchObject({ to: { state: 'open' } });
  });

  it('creates links, backs up and restores', () => {
    expect(parse('link')).toEqual({ is: 'link', name: undefined });
    expect(parse('link ada')).toEqual({ is: 'link', name: 'ada' });
    expect(parse('backup a.sqlite --force')).toEqual({ is: 'backup', file: 'a.sqlite', force: true });
    expect(parse('restore a.sqlite')).toEqual({ is: 'restore', file: 'a.sqlite' });
    expect(parse('restore')).toEqual({ is: 'restore', file: undefined });
    expect(parse('replay')).toEqual({ is: 'replay' });
    expect(parse('forget ada@example.com')).toEqual({ is: 'forget', whom: 'ada@example.com' });
    expect(parse('forget -q3xYw7bVb0J2k1p')).toEqual({ is: 'forget', whom: '-q3xYw7bVb0J2k1p' });
    for (const line of ['help', '--help', '-h', 'backup --help']) expect(parse(line)).toEqual({ is: 'help' });
  });

  it.each([
    ['--bad', 'Unknown option --bad'],
    ['--state closed', '--state must be one of open, resolved, ignored, all.'],
    ['--side both', '--side must be one of server, browser.'],
    ['--limit 0', '--limit must be a whole number from 1 to 1000.'],
    ['--limit', 'option --limit needs a value'],
    ['--json=yes', 'option --json takes no value'],
    ['list 7K3QM2XA', 'list takes only options'],
    ['resovle 7K3QM2XA', 'Unknown command "resovle".'],
    ['resolve', 'Name at least one incident'],
    ['resolve nothing', '"nothing" is not a digest'],
    ['resolve 7K3QM2XA --in 2027', '--in must be "now" or "next"'],
    ['resolve 7K3QM2XA --for 7d', 'option --for does not exist for resolve'],
    ['ignore 7K3QM2XA --for soon', '--for must be a duration such as'],
    ['ignore 7K3QM2XA --for 0d', '--for must be a duration such as'],
    ['ignore 7K3QM2XA --for 7d --until-more 5', 'not both'],
    ['ignore 7K3QM2XA --until-more -5', 'option --until-more needs a value'],
    ['reopen 7K3QM2XA --as \x1b[2J', '--as must be a name'],
    ['7K3QM2XA --limit 5', 'option --limit does not exist for showing an incident'],
    ['backup', 'backup <file>'],
    ['restore a b', 'one file'],
    ['replay now', 'replay takes no arguments'],
    ['forget', 'forget <visitor'],
    ['link a b', 'one token'],
    ['\x1b[2J x', 'Unknown command "\\x1b[2J".'],
  ])('%s is rejected with one sentence', (line, words) => {
    expect(() => parse(line)).toThrow(UsageError);
    expect(() => parse(line)).toThrow(words);
    try {
      parse(line);
    } catch (error) {
      expect((error as Error).message.split('\n')).toHaveLength(1);
    }
  });
});
