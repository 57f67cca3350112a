import { resolve } from 'node:path';
import { formatErrors } from '../bundles.mjs';
import { toRelative } from '../files.mjs';

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
  const problems = error.errors.map((message) => toProblem(message, root));
  return { text: await formatErrors(error.errors), error: { title, problems } };
}

/** The server adds source lines and a link, as for failures at run time. */
function toProblem({ text, location }, root) {
  if (!location) return { text };
  const { line, column } = location;
  return { text, file: toRelative(root, resolve(root, location.file)), line, column: column + 1 };
}
