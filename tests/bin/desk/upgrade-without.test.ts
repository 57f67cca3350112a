import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashFiles, readSpillwayFile, toSpillwayText } from '../../../bin/upgrade/spillway-file.mjs';
import { copyCommands, createWorkshop, readIfThere, type Workshop } from '../../support/upgrade-repos.ts';

const REMOVAL = {
  room: 'desk',
  paths: ['bin/desk.mjs'],
  regions: ['src/server/counters.ts'],
  scripts: { desk: null },
  packages: ['pg'],
  developing: [],
  settings: 'src/server/desk/settings.ts',
};
const LINES = Array.from({ length: 20 }, (_, line) => `export const line${line} = ${line};`).join('\n');

const OLD = {
  'package.json': toManifest({ check: 'tsc', desk: 'node bin/desk.mjs' }, { express: '5.3.0', pg: '8.0.0' }),
  'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n## [0.3.0] - 2026-11-24\n\nThe first.\n',
  '.env.example': '# The port.\n# PORT=3000\n\n# Of the desk.\n# DESK_PORT=3001\n',
  'bin/desk.mjs': '// The desk.\n',
  'bin/own/without-desk/removal.json': JSON.stringify(REMOVAL),
  'bin/own/without-desk/.env.part': '\n# A link.\n# FAILURE_LINK=https://sentry.example\n',
  'bin/own/without-desk/files/src/server/destination.ts': `${LINES}\nexport const to = 'the log';\n`,
  'src/server/destination.ts': "export { desk } from './desk/desk.ts';\n",
  'src/server/counters.ts': `${LINES}\n// #region desk\nexport const rows = 1;\n// #endregion desk\n`,
  'src/server/desk/desk.ts': 'export const desk = 1;\n',
  'src/server/desk/settings.ts': '  DESK_PORT: {\n',
  'src/server/product/settings.ts': '  SHOP_URL: {\n',
  'tests/server/desk/desk.test.ts': '// A test of the desk.\n',
  'tests/support/rows.ts': "import { desk } from '../../src/server/desk/desk.ts';\n",
};

const NEW = {
  'package.json': toManifest({ check: 'tsc -b', desk: 'node bin/desk.mjs' }, { express: '5.4.0', pg: '8.1.0' }),
  '.env.example': '# The port.\n# PORT=4000\n\n# Of the desk.\n# DESK_PORT=3001\n',
  'bin/own/without-desk/files/src/server/destination.ts': `${LINES.replace('line0 = 0', 'line0 = 100')}\nexport const to = 'the log';\n`,
  'bin/own/without-desk/files/src/server/more.ts': 'export const more = 1;\n',
  'src/server/destination.ts': "export { desk } from './desk/other.ts';\n",
  'src/server/counters.ts': `${LINES.replace('line1 = 1', 'line1 = 100')}\n// #region desk\nexport const rows = 2;\n// #endregion desk\n`,
  'src/server/desk/other.ts': 'export const desk = 2;\n',
  'src/server/desk/check.ts': 'export const check = 1;\n',
  'tests/server/other.test.ts': "import { rows } from '../support/rows.ts';\n",
};

function toManifest(scripts: object, dependencies: object): string {
  const fields = { name: 'spillway', private: true, version: '0.3.0', scripts, dependencies };
  return `${JSON.stringify(fields, null, 2)}\n`;
}

let workshop: Workshop;
let app: string;

beforeAll(() => {
  workshop = createWorkshop();
  const upstream = join(workshop.folder, 'upstream');
  mkdirSync(upstream);
  workshop.git(upstream, 'init', '--quiet');
  copyCommands(upstream);
  workshop.commit(upstream, 'Old', OLD);
  workshop.git(upstream, 'tag', 'v0.3.0');

  // As `npm run own -- --without desk` leaves it, with one edit of its owner.
  app = join(workshop.folder, 'app');
  cpSync(upstream, app, { recursive: true, filter: (path) => !path.endsWith('/.git') });
  workshop.git(app, 'init', '--quiet');
  const removed = ['bin/desk.mjs', 'src/server/desk/desk.ts', 'src/server/desk/settings.ts'];
  const files = {
    ...Object.fromEntries(
      [...removed, 'tests/server/desk/desk.test.ts', 'tests/support/rows.ts'].map((path) => [path, undefined]),
    ),
    'package.json': toManifest({ check: 'tsc' }, { express: '5.3.0' }),
    '.env.example': '# The port.\n# PORT=3000\n\n# A link.\n# FAILURE_LINK=https://sentry.example\n',
    '.gitignore': 'node_modules/\n',
    'src/server/destination.ts': `${LINES}\nexport const to = 'our own log';\n`,
    'src/server/counters.ts': `${LINES}\n`,
  };
  const origin = toSpillwayText({ version: '0.3.0', upstream, without: ['desk'], files: hashFiles(upstream) });
  workshop.commit(app, 'App', { ...files, '.spillway.json': origin });
  workshop.commit(upstream, 'New', { ...NEW, 'package.json': NEW['package.json'].replace('0.3.0', '0.4.0') });
  workshop.git(upstream, 'tag', 'v0.4.0');
});
afterAll(() => workshop.remove());

it('an upgrade keeps an app without the desk, and merges what replaces it', async () => {
  const said = await workshop.run(app, ['bin/upgrade.mjs', '0.4.0', '--allow-unsigned']);
  expect(said.code, said.out).toBe(0);
  expect(said.out).not.toContain('conflict');
  const files = workshop.git(app, 'ls-files').split('\n');
  expect(files.filter((path) => /^(?:src|tests)\/.*desk|^bin\/desk|^tests\//.test(path))).toEqual([]);
  expect(readIfThere(app, 'src/server/destination.ts')).toMatch(/line0 = 100;[\s\S]*'our own log'/);
  expect(readIfThere(app, 'src/server/more.ts')).toBe('export const more = 1;\n');
  expect(readIfThere(app, 'src/server/counters.ts')).toBe(`${LINES.replace('line1 = 1', 'line1 = 100')}\n`);
  expect(readIfThere(app, '.env.example')).toBe(
    '# The port.\n# PORT=4000\n\n# A link.\n# FAILURE_LINK=https://sentry.example\n',
  );
  expect(JSON.parse(readIfThere(app, 'package.json') ?? '')).toMatchObject({
    scripts: { check: 'tsc -b' },
    dependencies: { express: '5.4.0' },
  });
  expect(readIfThere(app, 'package.json')).not.toMatch(/desk|"pg"/);
  expect(readSpillwayFile(app)?.without).toEqual({ desk: true });
});
