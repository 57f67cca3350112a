import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_ACTION_BYTES } from '../../shared/shared-limits.ts';
import { MiB, Second } from '../../shared/units.ts';
import { type Config, readConfig, SETTINGS } from '../config.ts';
import type { ProductSettings } from '../define-product.ts';
import { type ExistingApp, findUninstalled, requireExistingFile } from '../front/existing-app.ts';
import { CHECK_PATH, CHECK_PAUSE, FORGED_ADDRESS, type SeenRequest } from '../front/fixed-paths.ts';
import { readKeptToken } from '../front/tokens.ts';
import { listUploads } from '../pages/render/encode-page.ts';
import type { PageTable } from '../pages/server-page.ts';
import { listRemovedSettings } from '../removed-settings.ts';
import { ConfigError, type Environment, listMisspelled } from '../settings.ts';
import { StartError } from '../start-error.ts';
import type { Tracker } from '../tracker/tracker.ts';
import { readManifest, requireSettings } from './basics.ts';
import { findExisting, requireWritable, UnwritableFolderError } from './data-folder.ts';
import type { Site } from './open.ts';

/** A line of the report. An error makes the command exit with 1. */
export interface Finding {
  readonly level: 'error' | 'warning' | 'ok';
  /** What was found, and what to do about it. */
  readonly text: string;
}

interface CheckedSite extends Pick<Site<unknown, unknown, object>, 'dist' | 'tracker'> {
  readonly product: {
    readonly settings: ProductSettings<unknown>;
    readonly pages: PageTable<never>;
    readonly existingApp?: ExistingApp;
  };
}

function error(text: string): Finding {
  return { level: 'error', text };
}

function warning(text: string): Finding {
  return { level: 'warning', text };
}

function ok(text: string): Finding {
  return { level: 'ok', text };
}

/** The time for one request to the site (ms), and for each MiB that is sent. */
const TIMEOUT = 15 * Second;
const TIMEOUT_PER_MIB = 2 * Second;
/** Below this, the server soon cannot store anything (bytes). */
const LITTLE_SPACE = 100 * MiB;

/**
 * `npm start -- --check [url]`: checks settings, data folder and build without starting or creating anything. With a
 * URL, it also asks that site from outside.
 *
 * @param args the arguments of the process
 * @returns the exit code
 */
export async function runCheck(args: readonly string[], site: CheckedSite): Promise<number> {
  const given = args[args.indexOf('--check') + 1];
  const url = given === undefined ? undefined : URL.parse(given);
  if (url === null || (url && !/^https?:$/.test(url.protocol))) {
    process.stderr.write(`${given} is not the URL of a site. Use one such as https://example.com.\n`);
    return 1;
  }
  const { findings, config, checkStore } = checkHere(site);
  const away = url ? undefined : await checkStore?.(site.dist); // a site says itself whether it stores failures
  if (away) findings.push(error(away));
  const all = url && config ? [...findings, ...(await checkSite(url, config, site))] : findings;
  for (const { level, text } of all) process.stdout.write(`${level}: ${text}\n`);
  return all.some(({ level }) => level === 'error') ? 1 : 0;
}

/** Checks everything that can stop a start. `config` is undefined if a setting is invalid. */
function checkHere({ dist, tracker, product: { settings, existingApp } }: CheckedSite) {
  const known = Object.keys({ ...SETTINGS, ...tracker?.settings, ...settings.table });
  const findings = [...listRemovedSettings(process.env), ...listMisspelled(process.env, known)].map(warning);
  const { env, found, invalid, value: config } = readValid(process.env, SETTINGS, readConfig);
  if (!config) throw new ConfigError(found.map(({ text }) => text)); // never, because the defaults are valid
  const others: Finding[] = [];
  attempt(others, () => requireSettings(config, tracker));
  const ofProduct = readValid(env, settings.table, (env) => settings.read(env, config));
  const ofTracker = readValid(env, tracker?.settings ?? {}, (env) => tracker?.configure(env, config));
  others.push(...ofProduct.found, ...ofTracker.found, ...(settings.listWarnings?.(env) ?? []).map(warning));
  others.push(...listAdvice(config), checkFolder(config, tracker));
  // The rest can follow from a default that is used for an invalid setting.
  findings.push(...found, ...others.filter(({ text }) => !mentions(text, invalid)));
  const root = join(dist, '..');
  const existing = attempt(findings, () => requireExistingFile(existingApp, root));
  const uninstalled = existing && findUninstalled(existing, root);
  if (uninstalled) findings.push((uninstalled.areMissing ? error : warning)(uninstalled.text));
  const manifest = attempt(findings, () => readManifest(dist));
  if (manifest) findings.push(ok(`Build ${manifest.buildId}.`));
  return {
    findings,
    config: invalid.size > 0 ? undefined : config,
    checkStore: ofTracker.invalid.size > 0 ? undefined : ofTracker.value?.checkStore,
  };
}

/** Reads a table of settings. Invalid ones get their defaults, so that the rules between the others are checked too. */
function readValid<T>(given: Environment, table: object, read: (env: Environment) => T) {
  const all: Finding[] = [];
  const invalid = new Set<string>();
  for (;;) {
    const env = Object.fromEntries(Object.entries(given).filter(([name]) => !invalid.has(name)));
    const found: Finding[] = [];
    const value = attempt(found, () => read(env));
    all.push(...found.filter(({ text }) => !mentions(text, invalid)));
    const wrong = Object.keys(table).filter((name) => env[name] && found.some(({ text }) => mentions(text, [name])));
    if (wrong.length === 0) return { env, found: all, invalid, value };
    for (const name of wrong) invalid.add(name);
  }
}

function mentions(text: string, names: Iterable<string>): boolean {
  const words = new Set(text.match(/\w+/g));
  return [...names].some((name) => words.has(name));
}

/** Adds a finding for each sentence of an error that stops a start. */
function attempt<T>(findings: Finding[], read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof StartError)) throw thrown;
    findings.push(...(thrown instanceof ConfigError ? thrown.sentences : [thrown.message]).map(error));
    return undefined;
  }
}

/** Lists settings that are valid, and likely not what a site on the internet needs. */
function listAdvice({ publicOrigins, trustProxy, isLoopback }: Config): Finding[] {
  const advice: Finding[] = [];
  if (publicOrigins.length === 0 && !isLoopback)
    advice.push(
      warning(
        'PUBLIC_ORIGINS is not set: requests for any host are accepted. Set it to the origins that visitors use.',
      ),
    );
  if (trustProxy === 0 && publicOrigins.some((origin) => origin.startsWith('https:')))
    advice.push(
      warning(
        'TRUST_PROXY is not set, although a proxy terminates TLS: all visitors share its address. Set it to the proxy.',
      ),
    );
  return advice;
}

function checkFolder({ dataDir }: Config, tracker: Tracker | undefined): Finding {
  try {
    requireWritable(dataDir, tracker?.files);
  } catch (thrown) {
    if (!(thrown instanceof UnwritableFolderError)) throw thrown;
    return error(thrown.message);
  }
  const { bavail, bsize } = statfsSync(findExisting(dataDir));
  const free = `${Math.floor((bavail * bsize) / MiB)} MB are free in ${dataDir} (DATA_DIR).`;
  return bavail * bsize < LITTLE_SPACE ? error(`${free} Free disk space.`) : ok(free);
}

/** Asks a site from outside. The token comes from the settings of this folder. */
async function checkSite(url: URL, config: Config, { tracker, product }: CheckedSite): Promise<Finding[]> {
  try {
    const ready = await ask(url, '/readyz');
    if (ready.status !== 200) return [error(`${url.origin}/readyz answers ${ready.status}. Is the server running?`)];
    const findings: Finding[] = [];
    const health = await ready.text();
    if (tracker?.check.trouble.some((value) => health.includes(`"${value}"`)))
      findings.push(error(`Failures are not stored: ${health}. "When something fails" in docs/operating.md says why.`));
    const home = await ask(url, '/');
    if (home.status === 421)
      findings.push(error(`The server refuses this host (421). Add ${url.origin} to PUBLIC_ORIGINS.`));
    if (tracker)
      for (const path of tracker.check.guarded) findings.push(...(await checkClosed(url, path, tracker.check.headers)));
    const [known = readKeptToken(config.dataDir)] = [...config.operatorTokens, ...config.viewerTokens];
    if (known) findings.push(...(await checkProxy(url, known.token, findLargestForm(product.pages))));
    else findings.push(error('There is no token to ask the site with. Set OPERATOR_TOKEN as the server has it.'));
    return findings;
  } catch (thrown) {
    return [error(`${url.origin} cannot be reached: ${toReason(thrown)}.`)];
  }
}

function findLargestForm(pages: PageTable<never>): number {
  return Math.max(MAX_ACTION_BYTES, ...listUploads(pages, Object.keys(pages)).map(([, maxBytes]) => maxBytes));
}

/** Is a path of operators closed to strangers, and to a header that only the authenticating proxy can set? */
async function checkClosed(url: URL, path: string, settings: readonly string[]): Promise<Finding[]> {
  const forged = settings.map((setting) => process.env[setting]?.trim());
  const callers = [
    { who: 'strangers', headers: {} },
    ...forged.flatMap((header) => (header ? [{ who: `a forged ${header}`, headers: { [header]: 'admin' } }] : [])),
  ];
  return Promise.all(
    callers.map(async ({ who, headers }) => {
      const { status } = await ask(url, path, { headers });
      if (status >= 300 && status < 500) return ok(`${path} is closed to ${who} (${status}).`);
      return error(`${path} answers ${status} to ${who}. Only operators must be able to read it.`);
    }),
  );
}

/** How does a proxy pass on a request: address and scheme, a large body, and a streamed answer? */
async function checkProxy(url: URL, token: string, size: number): Promise<Finding[]> {
  const response = await ask(url, CHECK_PATH, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'X-Forwarded-For': FORGED_ADDRESS },
    body: Buffer.alloc(size),
    signal: AbortSignal.timeout(TIMEOUT + (size / MiB) * TIMEOUT_PER_MIB),
  });
  if (response.status === 413 && size > 0)
    return [
      error(`A body of ${size} bytes is refused with 413, but forms can be as large. Raise the limit of the proxy.`),
      ...(await checkProxy(url, token, 0)),
    ];
  if (response.status !== 200 || !response.body) {
    const hint =
      response.status === 401 ? 'The server has another token: set OPERATOR_TOKEN as the server has it.' : '';
    return [error(`${CHECK_PATH} answers ${response.status}. ${hint}`.trim())];
  }
  let text = '';
  let secondLine: number | undefined;
  for await (const chunk of response.body) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.includes('\nmore\n')) secondLine ??= performance.now();
  }
  const seen = JSON.parse(text.slice(0, text.indexOf('\n'))) as SeenRequest; // from our own server
  const isStreamed = secondLine !== undefined && performance.now() - secondLine > CHECK_PAUSE / 2;
  return [
    checkOrigin(url, seen),
    checkAddress(seen),
    ...(size > 0 ? [ok(`A body of ${seen.bytes} bytes arrives.`)] : []),
    isStreamed
      ? ok('Answers are streamed.')
      : error(
          'The proxy collects answers before it passes them on, so pages appear late. Turn off its buffering, or let it obey X-Accel-Buffering.',
        ),
  ];
}

function checkOrigin(url: URL, { scheme, host }: SeenRequest): Finding {
  const origin = `${scheme}://${host}`;
  if (origin === url.origin) return ok(`The server sees ${origin}.`);
  return error(
    `The server sees ${origin} instead of ${url.origin}. Let the proxy pass on Host and set X-Forwarded-Proto, and set TRUST_PROXY.`,
  );
}

function checkAddress({ address, isPeerTrusted, isForwarded }: SeenRequest): Finding {
  if (address === FORGED_ADDRESS)
    return error(
      'The server believes an address that the visitor sent. Set TRUST_PROXY to the proxies only, and let the first one replace X-Forwarded-For.',
    );
  if (isForwarded && !isPeerTrusted)
    return error(
      `The server sees every visitor as ${address}, because it does not trust the proxy. Set TRUST_PROXY to its address.`,
    );
  return ok(`The server sees this machine as ${address}.`);
}

function ask(url: URL, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(new URL(path, url), { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT), ...init });
}

function toReason(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error);
}
