import { readFile } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import * as esbuild from 'esbuild';

/** How many lines are shown before and after the one that is meant. */
const around = 3;

/** How a place is opened: `{file}` is absolute, `{line}` and `{column}` count from 1. */
const editorLink = () => process.env.EDITOR_LINK ?? 'vscode://file/{file}:{line}:{column}';

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
  const problems = await Promise.all(messages.map((message) => toProblem(message, root)));
  return { text: formatted.join('').trim(), error: { title: 'The build failed', problems } };
}

async function toProblem({ text, location }, root) {
  if (!location) return { text };
  const file = relative(root, isAbsolute(location.file) ? location.file : join(root, location.file)).replaceAll(
    '\\',
    '/',
  );
  return { text, ...(await toPlace(root, file, location.line, location.column + 1)) };
}

/**
 * @param {string} root
 * @param {string} file relative to it
 */
export async function toPlace(root, file, line, column) {
  const source = await readFile(join(root, file), 'utf8').catch(() => undefined);
  const rows = source?.split('\n') ?? [];
  const from = Math.max(1, line - around);
  return {
    file,
    line,
    column,
    open: editorLink()
      .replace('{file}', encodeURI(join(root, file)))
      .replace('{line}', String(line))
      .replace('{column}', String(column)),
    lines: rows.slice(from - 1, line + around).map((row, index) => [from + index, row]),
  };
}
