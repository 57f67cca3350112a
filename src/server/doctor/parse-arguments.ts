import { parseArgs } from 'node:util';
import { UsageError } from '../desk/terminal/terminal-error.ts';

export interface DoctorArguments {
  readonly help: boolean;
  readonly json: boolean;
  readonly tokenFile: string | undefined;
  /** The site to measure; undefined for this environment. */
  readonly site: URL | undefined;
}

const SEE_HELP = 'Run it with --help to see what there is.';

/** @throws UsageError */
export function parseArguments(args: readonly string[]): DoctorArguments {
  const { values, positionals } = parseAll(args);
  const [first, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`One site is looked at at a time, and not ${positionals.length}.`);
  const help = values.help === true || first === 'help';
  const site = first === undefined || help ? undefined : parseSite(first);
  const tokenFile = values['token-file'];
  if (tokenFile !== undefined && !site && !help) {
    throw new UsageError('--token-file is for measuring a site: name one, such as https://www.example.com.');
  }
  return { help, json: values.json === true, tokenFile, site };
}

function parseAll(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        json: { type: 'boolean' },
        'token-file': { type: 'string' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    const option = /'(-[^' ]*)/.exec((error as Error).message)?.[1] ?? '';
    throw new UsageError(`The option ${option} is not known, or has not the value that it needs. ${SEE_HELP}`);
  }
}

function parseSite(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username || url?.password) throw new UsageError('Leave user and password out of the address.');
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new UsageError(
      'That is no address of a site. Write it as visitors have it, with https:// in front, such as https://www.example.com.',
    );
  }
  return new URL(url.origin);
}
