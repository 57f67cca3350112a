import type { Config } from '../config.ts';
import type { Lookup } from '../engine/outgoing/find-address.ts';
import type { Environment } from '../engine/settings.ts';
import type { Finding, Lines } from './finding.ts';
import type { Ask } from './site/ask.ts';

/** Checks of the place that failures go to. `destination-checks.ts` says which one is in use. */
export interface MoreChecks {
  /** Returns a sentence for each reason why a start would refuse the settings. */
  listSentences(config: Config): readonly string[];
  /** Checks settings that a start accepts. */
  checkSettings(config: Config, resolve: Lookup | undefined): Promise<readonly Finding[]>;
  checkStore(config: Config): Promise<readonly Finding[]>;
  /** Returns what is stored in the data folder. */
  describeFolder(config: Config): StoredData;
  /** Returns a token that a start created; undefined if there is none. @throws the system's error */
  readKeptToken(dataDir: string): string | undefined;
  /** Checks what visitors can reach. @throws NoAnswerError */
  checkSite(ask: Ask, env: Environment): Promise<readonly Finding[]>;
  /** A page of every site, for sites whose start page redirects; undefined if there is none. */
  readonly page: string | undefined;
  /** How to hide the metrics from visitors. */
  readonly hideMetrics: Lines;
}

export interface StoredData {
  /** What is lost with the folder, as it is named in a sentence. */
  readonly name: string;
  /** Whether that matters more than a warning says. */
  readonly isPrecious: boolean;
  /** The most bytes that it can need. */
  readonly maxBytes: number;
  /** What makes that less. */
  readonly advice: string;
}
