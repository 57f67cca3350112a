import { isAbsolute, relative } from 'node:path';
import * as esbuild from 'esbuild';

/**
 * Converts a failed build for the terminal and for open pages.
 *
 * @param {any} error the error of the build
 * @param {string} root
 * @returns {Promise<{ text: string, error: import('../../src/shared/develop-protocol.ts').DevError }>}
 */
export async function toDevError(error, root) {
  const messages = Array.isArray(error?.errors) ? error.errors : [];
  if (messages.length === 0) {
    const text = String(error?.message ?? error);
    return { text, error: { title: 'The build failed', problems: [{ text }] } };
  }
  const formatted = await esbuild.formatMessages(messages, { kind: 'error', color: process.stderr.isTTY });
  const problems = messages.map((message) => toProblem(message, root));
  return { text: formatted.join('').trim(), error: { title: 'The build failed', problems } };
}

/** The server adds source lines and a link, as for failures at run time. */
function toProblem({ text, location }, root) {
  if (!location) return { text };
  const path = isAbsolute(location.file) ? relative(root, location.file) : location.file;
  return { text, file: path.replaceAll('\\', '/'), line: location.line, column: location.column + 1 };
}
