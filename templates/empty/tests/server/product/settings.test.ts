import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readConfig, SETTINGS } from '#engine/testing';
import { settings } from '#product-server/settings.ts';
import { createTestSettings } from '../../support/product/test-settings.ts';

const described = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');

it('has a default for every setting that tests do not set', async () => {
  const env = await createTestSettings();
  expect(() => settings.read(env, readConfig(env))).not.toThrow();
});

it('lists its settings in .env.example, and those of the engine', () => {
  const all = { ...SETTINGS, ...settings.table };
  for (const [name, { about, example }] of Object.entries(all)) {
    expect(described).toContain(`# ${about}\n# ${name}=${example}\n`);
  }
});
