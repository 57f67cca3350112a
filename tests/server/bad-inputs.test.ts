import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HIDDEN_PATH } from '../support/bad-inputs/framing.ts';
import type { Doors } from '../support/bad-inputs/input.ts';
import { listBadInputs } from '../support/bad-inputs/list-bad-inputs.ts';
import { tryBadInputs } from '../support/bad-inputs/try-bad-inputs.ts';
import { askRaw } from '../support/raw-http.ts';
import { OPERATOR, SITE_HOST, startWholeSite, type WholeSite } from './whole-site.tsx';

const DOORS: Doors = {
  host: SITE_HOST,
  page: '/',
  kept: '/static',
  item: '/items/',
  form: '/form',
  action: 'form.tell',
  api: '/api/echo',
  asset: '/assets/main-1.js',
  dsn: `https://spillway@${SITE_HOST}/1`,
  token: OPERATOR,
};

/** Sends every n-th input, spread over all entry points. With `BAD_INPUTS_SHARE=1`, all of them. */
const SHARE = Number(process.env.BAD_INPUTS_SHARE ?? 6);

let site: WholeSite;
beforeAll(async () => {
  site = await startWholeSite();
});
afterAll(() => site.close());

describe('bad inputs', () => {
  it('get responses with all required headers and no internal details', async () => {
    const inputs = listBadInputs(DOORS).filter((_, index) => index % SHARE === 0);
    const { faults, replies } = await tryBadInputs(inputs, {
      port: site.port,
      secrets: [OPERATOR, import.meta.dirname.slice(0, -'/tests/server'.length)],
      patience: 20_000, // allow for a shared machine that gives this test only a tenth of its CPU time
    });
    expect(faults).toEqual([]);
    expect(replies).toBeGreaterThan(inputs.length / 2);
    expect(site.lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect(site.lines.filter(({ path }) => path === HIDDEN_PATH)).toEqual([]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect((await askRaw(site.port, 'GET / HTTP/1.1', [`Host: ${SITE_HOST}`])).status).toBe(200);
  }, 120_000);

  it('are the same on every run, and more than 2,000', () => {
    const inputs = listBadInputs(DOORS);
    expect(inputs.length).toBeGreaterThan(2000);
    expect(listBadInputs(DOORS).every(({ bytes }, index) => inputs[index]?.bytes.equals(bytes))).toBe(true);
  });
});
