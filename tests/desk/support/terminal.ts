import { PassThrough } from 'node:stream';
import { runTerminal } from '../../../src/desk/server/terminal/run-terminal.ts';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the desk's command from source, with piped output. */
export async function runDesk(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  encoding: BufferEncoding = 'utf8',
): Promise<Said> {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const texts = [out, err].map((stream) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString(encoding);
  });
  const code = await runTerminal({ args, env, out, err, root: env.DATA_DIR ?? '' });
  // The output arrives in a later event loop iteration.
  await new Promise((resolve) => setImmediate(resolve));
  return { code, out: texts[0]?.() ?? '', err: texts[1]?.() ?? '' };
}
