import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readConfig, SETTINGS } from '#engine/testing';
import { settings } from '#product-server/settings.ts';

const described = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
const read = (env: Record<string, string>) => settings.read(env, readConfig(env));

it("hide the tour's failures on a public site by default", () => {
  expect(read({}).tourFailures).toBe(true);
  expect(read({ PUBLIC_ORIGINS: 'https://example.com' }).tourFailures).toBe(false);
  expect(read({ PUBLIC_ORIGINS: 'https://example.com', TOUR_FAILURES: 'yes' }).tourFailures).toBe(true);
  expect(read({ TOUR_FAILURES: 'no' }).tourFailures).toBe(false);
});

it("are described in .env.example, together with the engine's settings", () => {
  const all = { ...SETTINGS, ...settings.table };
  for (const [name, { about, example }] of Object.entries(all)) {
    expect(described).toContain(`# ${about}\n# ${name}=${example}\n`);
  }
});
