import { resolve } from 'node:path';
import { addAdvice, formatErrors } from '../bundles.mjs';
import { toRelative } from '../files.mjs';
import { toBaseFile } from './base.mjs';

/**
 * Converts a failed build for the terminal and for open pages.
 *
 * @param {any} error the error of the build
 * @param {string} root
 * @returns {Promise<{ text: string, error: import('../../src/shared/develop-protocol.ts').DevError }>}
 */
export async function toBuildError(error, root) {
  const title = 'The build failed';
  if (!error?.errors?.length) {
    const text = String(error?.message ?? error);
    return { text, error: { title, problems: [{ text }] } };
  }
  // What esbuild adds to the error of a plugin names a place in the compiled code.
  const errors = error.errors.map((message) => ({
    ...message,
    text: toBaseFile(message.text),
    ...(message.pluginName && { pluginName: '', notes: [] }),
  }));
  const problems = errors.map((message) => toProblem(message, root));
  return { text: await formatErrors(errors), error: { title, problems } };
}

/** The server adds source lines and a link, as for failures at run time. */
function toProblem(message, root) {
  const { text: what, location, notes = [] } = addAdvice(message);
  const text = [what, ...notes.flatMap((note) => (note.location ? [] : note.text))].join('\n');
  if (!location) return { text };
  const { line, column } = location;
  return { text, file: toRelative(root, resolve(root, location.file)), line, column: column + 1 };
}
