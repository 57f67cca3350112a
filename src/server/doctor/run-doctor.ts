import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listEnvironmentSecrets } from '../engine/errors/scrub/secret-values.ts';
import { createScrubber } from '../engine/errors/scrub.ts';
import type { ProductSettings } from '../engine/product.ts';
import { ConfigError, type Environment } from '../engine/settings.ts';
import { toCleanJson, toCleanLines } from '../terminal/clean-text.ts';
import { toCommandName } from '../terminal/command-name.ts';
import { toText } from '../terminal/paint.ts';
import { type Sheet, toPaper } from '../terminal/paper.ts';
import { TerminalError, UsageError } from '../terminal/terminal-error.ts';
import { drawFindings } from './draw-findings.ts';
import { checkEnvironment } from './environment/check-environment.ts';
import { countMarks, type FindingGroup } from './finding.ts';
import { toHelp } from './help.ts';
import { type DoctorArguments, parseArguments } from './parse-arguments.ts';
import { checkSite } from './site/check-site.ts';
import { readToken } from './site/read-token.ts';

export interface DoctorOptions {
  /** The arguments after the name of the command. */
  readonly args: readonly string[];
  readonly env: Environment;
  readonly out: NodeJS.WritableStream & Sheet;
  readonly err: NodeJS.WritableStream;
  /** The folder of the build. */
  readonly dist: string;
  readonly loadProductSettings: () => Promise<ProductSettings<unknown>>;
  /** A `/proc/self/mountinfo` for tests. */
  readonly mounts?: string;
}

/** @returns the exit code: 0, 1 if something is wrong or a check failed, 2 if the arguments are invalid */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  const { args, env, out, err } = options;
  try {
    const parsed = parseArguments(args);
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
    err.write(`${toCleanLines(toMessage(error)).join('\n')}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function toMessage(error: unknown): string {
  const isExpected = [UsageError, TerminalError, ConfigError].some((kind) => error instanceof kind);
  if (!(error instanceof Error)) return `The command failed: ${String(error)}`;
  return isExpected ? error.message : `The command failed: ${error.stack ?? error.message}`;
}

interface Examined {
  readonly title: string;
  readonly groups: readonly FindingGroup[];
}

async function examine({ site, tokenFile }: DoctorArguments, options: DoctorOptions): Promise<Examined> {
  const { env, dist, mounts } = options;
  const version = `Spillway ${readVersion(dist)}`;
  if (!site) {
    const groups = await checkEnvironment({ env, dist, mounts, product: await loadProduct(options) });
    return { title: `${version}, as it would start here`, groups: hideSecrets(groups, env) };
  }
  const token = readToken(tokenFile, env);
  const groups = await checkSite({ site, token, env });
  return { title: `${version} at ${site.origin}`, groups: hideSecrets(groups, env, token) };
}

async function loadProduct({ loadProductSettings }: DoctorOptions): Promise<ProductSettings<unknown> | Error> {
  try {
    return await loadProductSettings();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Removes secrets, because a finding can repeat an error message that contains a password. */
function hideSecrets(groups: readonly FindingGroup[], env: Environment, ...secrets: (string | undefined)[]) {
  const literals = [...listEnvironmentSecrets(env, createScrubber()), ...secrets.filter((one) => one !== undefined)];
  const scrubber = createScrubber({ literals });
  return groups.map(
    ({ heading, findings }): FindingGroup => ({
      heading,
      findings: findings.map((finding) => ({ ...finding, found: scrubber.text(finding.found) })),
    }),
  );
}

/** Returns the version in package.json, or an empty text. */
function readVersion(dist: string): string {
  try {
    const { version } = JSON.parse(readFileSync(join(dist, '..', 'package.json'), 'utf8')) as { version?: unknown };
    return typeof version === 'string' ? version : '';
  } catch {
    return '';
  }
}
