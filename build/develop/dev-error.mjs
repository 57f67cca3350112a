import { isAbsolute, relative } from 'node:path';
import * as esbuild from 'esbuild';

/**
 * A build that failed, for the terminal and for the page that stands open.
 *
 * @param {any} error what a build threw
 * @param {string} root
 * @returns {Promise<{ text: string, error: import('../../src/shared/engine/develop-protocol.ts').DevError }>}
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

/** The server adds the lines of source and the link, as it does for what fails while it runs. */
function toProblem({ text, location }, root) {
  if (!location) return { text };
  const path = isAbsolute(location.file) ? relative(root, location.file) : location.file;
  return { text, file: path.replaceAll('\\', '/'), line: location.line, column: location.column + 1 };
}
