import { parseArgs } from 'node:util';
import { UsageError } from '../terminal/terminal-error.ts';

export interface DoctorArguments {
  readonly help: boolean;
  readonly json: boolean;
  readonly tokenFile: string | undefined;
  /** The site to check; undefined for this environment. */
  readonly site: URL | undefined;
}

const SEE_HELP = 'Run the command with --help to see its options.';

/** @throws UsageError */
export function parseArguments(args: readonly string[]): DoctorArguments {
  const { values, positionals } = parseAll(args);
  const [first, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError(`Name one site, not ${positionals.length}.`);
  const help = values.help === true || first === 'help';
  const site = first === undefined || help ? undefined : parseSite(first);
  const tokenFile = values['token-file'];
  if (tokenFile !== undefined && !site && !help) {
    throw new UsageError('--token-file needs a site: name one, such as https://www.example.com.');
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
    throw new UsageError(`The option ${option} is unknown, or its value is missing. ${SEE_HELP}`);
  }
}

function parseSite(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username || url?.password) throw new UsageError('Remove user and password from the address.');
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new UsageError(
      'That is not the address of a site. Write it as visitors use it, with https:// in front, such as https://www.example.com.',
    );
  }
  return new URL(url.origin);
}
