import { parseArgs } from 'node:util';

/** Its message is for the person who runs the command. */
export class CommandError extends Error {}

/** @param {(args: string[]) => unknown} run It fails with a message if this throws a `CommandError`. */
export async function runCommand(run) {
  try {
    await run(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}

/**
 * @param {string[]} args
 * @param {import('node:util').ParseArgsOptionsConfig} options
 * @param {string} usage the message if they are invalid
 */
export function readArguments(args, options, usage) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch {
    throw new CommandError(usage);
  }
}
