import { createDigest } from '../../engine/errors/digest.ts';
import type { ErrorRecord, Failure, FailureKind } from '../../engine/errors/failure.ts';

/** The engine's rule, as the keeper needs it: for what it notices itself, and for events of earlier builds. */
export interface Digester {
  /** The rule's version. */
  readonly rule: number;
  /** @param sites the text of the build's `sites.json`, where it has one */
  createDigest(input: DigesterInput, sites?: string): DigesterResult;
}

export interface DigesterInput {
  readonly kind?: FailureKind;
  readonly side: Failure['side'];
  readonly errors: readonly ErrorRecord[];
  readonly route?: string;
}

export type DigesterResult = Pick<Failure, 'digest' | 'kind' | 'rule' | 'weak' | 'unresolved' | 'site' | 'title'>;

export function createDigester({ namespace }: { namespace: string }): Digester {
  return {
    rule: 1,
    createDigest({ kind = 'exception', side, errors, route = '' }) {
      const [error] = errors;
      const facts = { className: error?.class ?? kind, message: error?.message ?? '', frames: [], stack: '' };
      const digest = createDigest(facts, [side, kind, route], { namespace, root: '/' });
      return { digest, kind, rule: 1, title: error ? `${error.class}: ${error.message}` : kind };
    },
  };
}
