import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, it } from 'vitest';
import { listPathPatterns } from '../../../../src/server/errors/scrub/secret-path.ts';
import { listRequestSecrets } from '../../../../src/server/errors/scrub/secret-values.ts';
import { createScrubber } from '../../../../src/server/errors/scrub.ts';
import { isFastPattern } from '../../../support/fast-pattern.ts';

/** Scrubbing, masking and stack parsing, and everything else that reads requests and reports. */
const FILES = [
  'src/server/{api,connection,errors,front,mail,pages,reports,request,start}/**/*.{ts,tsx}',
  'src/shared/reporting/*.ts',
];

/** They read settings of the owner. */
const SETTINGS = /\/scrub-settings\.ts$/;

const scrubber = createScrubber();

/** Patterns that are made at run time, by file. Those without a list join texts, or patterns that are written there. */
const MADE: Readonly<Record<string, readonly RegExp[]>> = {
  'src/server/api/serve-operations.ts': [/^\/a\/([^/]+)\/b\/([^/]+)\/?$/i],
  'src/server/errors/scrub/redact.ts': [],
  'src/server/errors/scrub/secret-keys.ts': [],
  'src/server/errors/scrub/secret-path.ts': listPathPatterns(
    ['/reset/:token', '/a?/:b/:secret', '/users/:id/keys/:accessKey', '/:lang?/a/:token'],
    scrubber,
  ),
  'src/server/pages/shell/cached-shell.ts': [],
  'src/server/request/logger.ts': [],
  'src/server/request/paths.ts': [/^(?:\/desk|\/api\/desk)(?:\/|$)/i],
};

const files = globSync(FILES).filter((file) => !SETTINGS.test(file));

it('no pattern is slow for texts that repeat a part of it', { timeout: 120_000 }, () => {
  const slow: string[] = [];
  const makers: string[] = [];
  for (const file of files) {
    const patterns = [...(MADE[file] ?? [])];
    const visitor = new Visitor({
      Literal(node) {
        // Without a repetition, the time grows with the text only.
        if (!('regex' in node) || !/[*+{]/.test(node.regex.pattern)) return;
        patterns.push(new RegExp(node.regex.pattern, node.regex.flags));
      },
      NewExpression({ callee }) {
        if (callee.type === 'Identifier' && callee.name === 'RegExp') makers.push(file);
      },
    });
    visitor.visit(parseSync(file, readFileSync(file, 'utf8')).program);
    slow.push(...patterns.filter((pattern) => !isFastPattern(pattern)).map((pattern) => `${file}: ${pattern}`));
  }
  expect(slow).toEqual([]);
  expect([...new Set(makers)].sort(), 'add the patterns of a new file to MADE').toEqual(Object.keys(MADE));
});

it('900 texts of a report take a moment, even if its request has 700 cookies', () => {
  const cookie = Array.from({ length: 700 }, (_, index) => `c${index}=v${index + 1e6}%20`).join('; ');
  const texts = Array.from({ length: 900 }, (_, index) => `${index} v${1e6}%20`);
  const before = process.threadCpuUsage();
  const scrubbed = scrubber.forReport(listRequestSecrets({ headers: { cookie } }, scrubber)).value(texts);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(200);
  expect(scrubbed).toEqual(texts.map((_, index) => `${index} [redacted]`));
});
