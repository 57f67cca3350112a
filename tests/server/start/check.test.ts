import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { ConfigError, defineSettings } from '../../../src/server/index.ts';
import { runCheck } from '../../../src/server/start/check.ts';
import { createFolder } from '../../support/folder.ts';

const settings = defineSettings(
  {},
  (_values, config) => {
    if (config.publicOrigins.length === 0) throw new ConfigError(['Set PUBLIC_ORIGINS. Links need it.']);
    throw new ConfigError(['Set AUTH_SECRET. It signs cookies.']);
  },
  (env) => (env.REPLICAS ? ['REPLICAS is set, but not DATABASE_URL.'] : []),
);

afterEach(() => vi.unstubAllEnvs());

/** @returns the lines that it prints, without those about what is fine */
async function check(
  env: Record<string, string>,
  existingApp?: './legacy/app.js',
  root = createFolder(onTestFinished),
): Promise<string[]> {
  vi.unstubAllEnvs();
  const dist = join(root, 'dist');
  mkdirSync(dist, { recursive: true });
  writeFileSync(join(dist, 'manifest.json'), '{ "buildId": "b" }');
  for (const [name, value] of Object.entries({ DATA_DIR: root, TRUST_PROXY: 'loopback', ...env }))
    vi.stubEnv(name, value);
  let out = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text;
    return true;
  });
  await runCheck([], {
    dist,
    tracker: undefined,
    product: { settings, pages: {}, ...(existingApp && { existingApp }) },
  });
  write.mockRestore();
  return out.split('\n').filter((line) => line && !line.startsWith('ok: '));
}

const NO_SECRET = 'error: Set AUTH_SECRET. It signs cookies.';
const PUBLIC_ORIGINS = 'https://example.com';

it('lists errors of the product also if settings of the engine are wrong, but not what follows from those', async () => {
  expect(await check({ PORT: 'abc', PUBLIC_ORIGINS })).toEqual([
    expect.stringContaining('The setting PORT '),
    NO_SECRET,
  ]);
  expect(await check({ PORT: '3001', DESK_PORT: '3001', PUBLIC_ORIGINS })).toEqual([
    expect.stringContaining('PORT and DESK_PORT are both 3001'),
    NO_SECRET,
  ]);
  expect(await check({ PUBLIC_ORIGINS: 'example' })).toEqual([expect.stringContaining('The setting PUBLIC_ORIGINS ')]);
});

it('lists warnings of the product', async () => {
  expect(await check({ PUBLIC_ORIGINS, REPLICAS: '2' })).toEqual([
    NO_SECRET,
    'warning: REPLICAS is set, but not DATABASE_URL.',
  ]);
});

it('says which packages of an existing app are missing', async () => {
  const root = createFolder(onTestFinished);
  for (const folder of ['legacy', 'node_modules/pg']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'package.json'), '{}');
  writeFileSync(join(root, 'legacy/app.js'), '');
  const find = (dependencies: object) => {
    writeFileSync(join(root, 'legacy/package.json'), JSON.stringify({ dependencies }));
    return check({ PUBLIC_ORIGINS }, './legacy/app.js', root);
  };
  const packages = 'The packages of legacy/package.json are not installed';
  const hint = 'Run `npm ci --prefix legacy`.';
  expect(await find({ pg: '8', 'not-installed': '1', '@of/scope': '1' })).toContain(
    `error: ${packages}, so the app does not find not-installed, @of/scope. ${hint}`,
  );
  expect(await find({ pg: '8', events: '3' })).toContain(
    `warning: ${packages}, so the app gets those of the project, perhaps in other versions. ${hint}`,
  );
  expect(await find({})).toEqual([NO_SECRET]);
});
