import { expect, it, onTestFinished } from 'vitest';
import { askRaw } from '../../support/raw-http.ts';
import { HIDDEN_PATH, listBadInputs } from '../support/bad-inputs/list-bad-inputs.ts';
import { tryBadInputs } from '../support/bad-inputs/try-bad-inputs.ts';
import { OPERATOR, SITE_HOST, startWholeSite } from './whole-site.tsx';

const INPUTS = listBadInputs();

/** Sends every n-th input, spread over all entry points. With `BAD_INPUTS_SHARE=1`, all of them. */
const SHARE = Number(process.env.BAD_INPUTS_SHARE ?? 6);

it('bad inputs get responses with all required headers and no internal details', async () => {
  const site = await startWholeSite();
  onTestFinished(() => site.close());
  const inputs = INPUTS.filter((_, index) => index % SHARE === 0);
  const { faults, replies } = await tryBadInputs(inputs, {
    port: site.port,
    secrets: [OPERATOR, import.meta.dirname.slice(0, -'/tests/server'.length)],
    patience: 20_000, // allow for a shared machine that gives this test only a tenth of its CPU time
  });
  expect(faults).toEqual([]);
  expect(INPUTS.length).toBeGreaterThan(4000);
  expect(replies).toBeGreaterThan(inputs.length / 2);
  expect(site.lines.filter(({ level, path }) => Number(level) >= 50 || path === HIDDEN_PATH)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect((await askRaw(site.port, 'GET / HTTP/1.1', [`Host: ${SITE_HOST}`])).status).toBe(200);
}, 120_000);
