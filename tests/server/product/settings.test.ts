import { expect, it } from 'vitest';
import { readConfig } from '#engine/testing';
import { settings } from '#product-server/settings.ts';

const read = (env: Record<string, string>) => settings.read(env, readConfig(env));

it("hide the tour's failures on a public site by default", () => {
  expect(read({}).tourFailures).toBe(true);
  expect(read({ PUBLIC_ORIGINS: 'https://example.com' }).tourFailures).toBe(false);
  expect(read({ PUBLIC_ORIGINS: 'https://example.com', TOUR_FAILURES: 'yes' }).tourFailures).toBe(true);
  expect(read({ TOUR_FAILURES: 'no' }).tourFailures).toBe(false);
});
