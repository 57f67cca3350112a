import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from '../config.ts';
import { toCleanJson, toCleanLines } from '../desk/terminal/clean-text.ts';
import { toCommandName } from '../desk/terminal/command-name.ts';
import { toText } from '../desk/terminal/paint.ts';
import { type Sheet, toPaper } from '../desk/terminal/paper.ts';
import { TerminalError, UsageError } from '../desk/terminal/terminal-error.ts';
import { listEnvironmentSecrets } from '../engine/errors/scrub/secret-values.ts';
import { createScrubber } from '../engine/errors/scrub.ts';
import type { ProductSettings } from '../engine/product.ts';
import { ConfigError, type Environment, readSettings } from '../engine/settings.ts';
import { drawFindings } from './draw-findings.ts';
import { checkEnvironment } from './environment/check-environment.ts';
import { countMarks, type FindingGroup } from './finding.ts';
import { toHelp } from './help.ts';
import { type DoctorArguments, parseArguments } from './parse-arguments.ts';
import { checkSite } from './site/check-site.ts';
import { readToken } from './site/read-token.ts';

export interface DoctorOptions {
  /** Behind the name of the command. */
  readonly args: readonly string[];
  readonly env: Environment;
  readonly out: NodeJS.WritableStream & Sheet;
  readonly err: NodeJS.WritableStream;
  /** The folder of the build. */
  readonly dist: string;
  readonly loadProductSettings: () => Promise<ProductSettings<unknown>>;
  /** `/proc/self/mountinfo` of a test's own. */
  readonly mounts?: string;
}

/** What stops it with a sentence. */
const EXPECTED = [TerminalError, ConfigError];

/** @returns the exit code: 0, 1 where something is wrong or it could not look, 2 where it was called wrongly */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  const { env, out, err } = options;
  const tell = (text: string) => void err.write(`${toCleanLines(text).join('\n')}\n`);
  try {
    const parsed = parseArguments(options.args);
    if (parsed.help) {
      out.write(toHelp(toCommandName(env, 'doctor')));
      return 0;
    }
    const { title, groups } = await examine(parsed, options);
    const counts = countMarks(groups);
    if (parsed.json) out.write(`${toCleanJson({ title, counts, groups })}\n`);
    else out.write(toText(drawFindings(title, groups), toPaper(out, env)));
    return counts.wrong > 0 ? 1 : 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const isExpected = isUsage || EXPECTED.some((kind) => error instanceof kind);
    tell(isExpected ? (error as Error).message : `The command failed: ${toStack(error)}`);
    return isUsage ? 2 : 1;
  }
}

interface Examined {
  readonly title: string;
  readonly groups: readonly FindingGroup[];
}

async function examine({ site, tokenFile }: DoctorArguments, options: DoctorOptions): Promise<Examined> {
  const { env, dist, mounts } = options;
  const version = `Spillway ${readVersion(dist)}`;
  const token = site && readToken({ file: tokenFile, env });
  const groups = site
    ? await checkSite({ site, token: token?.token, authProxyHeader: readAuthProxyHeader(env), now: Date.now() })
    : await checkEnvironment({ env, dist, mounts, product: await loadProduct(options) });
  return {
    title: site ? `${version} at ${site.origin}` : `${version}, as it would start here`,
    groups: hideSecrets(groups, env, token?.token),
  };
}

/** @throws ConfigError if its value is invalid */
function readAuthProxyHeader(env: Environment): string | undefined {
  const { AUTH_PROXY_HEADER } = SETTINGS;
  return readSettings({ AUTH_PROXY_HEADER }, env).AUTH_PROXY_HEADER || undefined;
}

async function loadProduct({ loadProductSettings }: DoctorOptions): Promise<ProductSettings<unknown> | Error> {
  try {
    return await loadProductSettings();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** What was found may repeat what somebody else's error says, and that a password. */
function hideSecrets(groups: readonly FindingGroup[], env: Environment, token: string | undefined): FindingGroup[] {
  const literals = listEnvironmentSecrets(env, createScrubber());
  const scrubber = createScrubber({ literals: token === undefined ? literals : [...literals, token] });
  return groups.map(({ heading, findings }) => ({
    heading,
    findings: findings.map((finding) => ({ ...finding, found: scrubber.text(finding.found) })),
  }));
}

/** The clone's own, which its owner counts up. */
function readVersion(dist: string): string {
  try {
    const { version } = JSON.parse(readFileSync(join(dist, '..', 'package.json'), 'utf8')) as { version?: unknown };
    return typeof version === 'string' ? version : '';
  } catch {
    return '';
  }
}

function toStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
