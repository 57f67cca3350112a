import { Link } from '../../../engine/routing/link.tsx';
import { toPlural } from '../../../words.ts';
import { toIncidentHref } from '../../href.ts';
import type { SimilarShape } from '../../shapes.ts';
import { Ago } from '../../ui/ago.tsx';
import { KindBadge } from '../../ui/badges.tsx';
import { STATE_WORDS } from '../../words.ts';
import styles from './similar.module.css';

const BECAUSE = { file: 'same file', message: 'same words' } as const;

interface SimilarProps {
  readonly of: readonly SimilarShape[];
  /** The environment in URLs. */
  readonly scope: string;
  readonly now: number;
}

export function Similar({ of: similar, scope, now }: SimilarProps) {
  return (
    <ul className={styles.list}>
      {similar.map(({ digest, kind, title, state, lastAt, count, because }) => (
        <li key={digest}>
          <Link to={toIncidentHref(digest, undefined, scope)}>{title || digest}</Link>
          <p className={styles.facts}>
            {kind !== 'exception' && (
              <>
                <KindBadge kind={kind} />{' '}
              </>
            )}
            {`${BECAUSE[because]}, ${STATE_WORDS[state].toLowerCase()}, ${toPlural(count, 'time')}, `}
            <Ago at={lastAt} now={now} />
          </p>
        </li>
      ))}
    </ul>
  );
}
