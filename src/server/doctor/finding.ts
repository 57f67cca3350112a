/**
 * How something stands. A *warning* works and could be better or safer; *wrong* does harm to visitors
 * or loses what was to be kept; *unknown* could not be looked at, and says why.
 */
export type Mark = 'ok' | 'warning' | 'wrong' | 'unknown';

/** What was looked at, how it stands, and what to do. No text of it holds a secret. */
export interface Finding {
  readonly about: string;
  readonly mark: Mark;
  /** A sentence. */
  readonly found: string;
  /** Sentences that say what to do; none where nothing is to be done. */
  readonly advice?: string;
  readonly remedies?: readonly Remedy[];
}

/** A line to be changed. */
export interface Remedy {
  readonly place: 'nginx' | 'HAProxy' | 'Caddy' | 'setting';
  readonly line: string;
}

export interface FindingGroup {
  readonly heading: string;
  readonly findings: readonly Finding[];
}

export function toOk(about: string, found: string): Finding {
  return { about, mark: 'ok', found };
}

export function toUnknown(about: string, found: string): Finding {
  return { about, mark: 'unknown', found };
}

/** @param line such as `TRUST_PROXY=10.0.0.5` */
export function toSetting(line: string): readonly Remedy[] {
  return [{ place: 'setting', line }];
}

/** How many findings have each mark. */
export function countMarks(groups: readonly FindingGroup[]): Readonly<Record<Mark, number>> {
  const counts = { ok: 0, warning: 0, wrong: 0, unknown: 0 };
  for (const { mark } of groups.flatMap(({ findings }) => findings)) counts[mark] += 1;
  return counts;
}
