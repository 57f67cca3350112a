/**
 * The result of a check. *Warning*: it works, but could be better or safer. *Wrong*: it harms visitors or loses data.
 * *Unknown*: it could not be checked, and the text says why.
 */
export type Mark = 'ok' | 'warning' | 'wrong' | 'unknown';

/** The line that fixes a problem, for each place to fix it in. */
export type Lines = Partial<Readonly<Record<'setting' | 'nginx' | 'HAProxy' | 'Caddy', string>>>;

/** The text of a finding, and its advice. It must not contain secrets. */
export interface Verdict {
  readonly mark: Mark;
  /** A sentence. */
  readonly found: string;
  /** Sentences. */
  readonly advice?: string | undefined;
  readonly lines?: Lines | undefined;
}

/** A finding as it is in the output of `--json`. */
export interface Finding extends Omit<Verdict, 'lines'> {
  readonly about: string;
  readonly remedies?: readonly Remedy[] | undefined;
}

export interface Remedy {
  readonly place: string;
  readonly line: string;
}

export interface FindingGroup {
  readonly heading: string;
  readonly findings: readonly Finding[];
}

/** Checks by their names. A check answers one question, or returns undefined if the question does not apply. */
export type Checks<Facts> = Readonly<Record<string, (facts: Facts) => Verdict | undefined>>;

export function judge<Facts>(checks: Checks<Facts>, facts: Facts): Finding[] {
  return Object.entries(checks).flatMap(([about, check]) => {
    const verdict = check(facts);
    return verdict ? [toFinding(about, verdict)] : [];
  });
}

export function toFinding(about: string, { lines, ...verdict }: Verdict): Finding {
  const remedies = lines && Object.entries(lines).map(([place, line]) => ({ place, line }));
  return { about, ...verdict, remedies };
}

export function ok(found: string): Verdict {
  return { mark: 'ok', found };
}

export function unknown(found: string, advice?: string): Verdict {
  return { mark: 'unknown', found, advice };
}

export function warning(found: string, advice?: string, lines?: Lines): Verdict {
  return { mark: 'warning', found, advice, lines };
}

export function wrong(found: string, advice?: string, lines?: Lines): Verdict {
  return { mark: 'wrong', found, advice, lines };
}

/** Counts the findings with each mark. */
export function countMarks(groups: readonly FindingGroup[]): Readonly<Record<Mark, number>> {
  const counts = { ok: 0, warning: 0, wrong: 0, unknown: 0 };
  for (const { mark } of groups.flatMap(({ findings }) => findings)) counts[mark] += 1;
  return counts;
}
