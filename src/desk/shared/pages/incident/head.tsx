import type { ReactNode } from 'react';
import { Link } from '#engine';
import { toListHref, USUAL_VIEW } from '../../href.ts';
import type { IncidentData } from '../../page-data.ts';
import type { CommitShape, LocationShape } from '../../shapes.ts';
import { Ago } from '../../ui/ago.tsx';
import { KindBadge, Sides, StateBadge } from '../../ui/badges.tsx';
import { FileLocation } from '../../ui/file-location.tsx';
import { toCount, toHint, toStateDetail } from '../../words.ts';
import styles from './head.module.css';

/** The most important facts: title, state and location. */
export function Head({ of: data }: { readonly of: IncidentData }) {
  const { status, now, counts } = data;
  const detail = toStateDetail(status);
  const hint = toHint(data);
  return (
    <header className={styles.head}>
      <p className={styles.line}>
        <Link to={toListHref(USUAL_VIEW, { environment: data.scope })}>Incidents</Link>
        <span aria-hidden="true">/</span>
        <code className={styles.digest}>{data.digest}</code>
        <KindBadge kind={data.kind} level={data.shown?.full?.level} />
        <StateBadge status={status} />
        {(detail || status.changedAt !== undefined) && (
          <span className="quiet">
            {detail}
            {status.changedAt !== undefined && (
              <>
                {detail && ', '}
                {status.changedBy ? `by ${status.changedBy} ` : ''}
                <Ago at={status.changedAt} now={now} />
              </>
            )}
          </span>
        )}
      </p>
      <h1>{data.title || 'No details'}</h1>
      {data.message !== '' && !data.title.endsWith(data.message) && (
        <pre className={styles.message}>{data.message}</pre>
      )}
      <FailureLocation of={data.place} />
      {data.commit && <Commit of={data.commit} now={now} />}
      {hint && <p className={styles.hint}>{hint}</p>}
      <dl className={styles.facts}>
        <Fact name="Happened">
          {`${toCount(counts.server + counts.browser)} × `}
          <Sides counts={counts} />
        </Fact>
        {data.visitors !== undefined && (
          <Fact name="Visitors">
            <span title="Each visitor counts once a day">{toCount(data.visitors)}</span>
          </Fact>
        )}
        <Fact name="Last seen">
          <Ago at={data.lastAt} now={now} />
        </Fact>
        <Fact name="First seen">
          <Ago at={data.firstAt} now={now} />
        </Fact>
        <Fact name="Releases">{toReleases(data)}</Fact>
      </dl>
      {data.issueLink && (
        <p>
          <a href={data.issueLink}>Create an issue</a>
        </p>
      )}
    </header>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Function, file, line and route. */
function FailureLocation({ of: { file, line, function: name, route } }: { readonly of: LocationShape }) {
  if (!file && !route) return null;
  return (
    <p className={styles.place}>
      {file && (
        <>
          {'in '}
          {name && (
            <>
              <code>{name}</code>
              {', '}
            </>
          )}
          <FileLocation file={file} line={line} />
        </>
      )}
      {route && (
        <>
          {file ? ', on ' : 'on '}
          <code>{route}</code>
        </>
      )}
    </p>
  );
}

/** The commit that probably caused it. */
function Commit({ of: commit, now }: { readonly of: CommitShape; readonly now: number }) {
  return (
    <p className={styles.place}>
      {'Likely caused by '}
      <code title={commit.hash}>{commit.hash.slice(0, 9)}</code>
      {` “${commit.subject}” by ${commit.author}, `}
      <Ago at={commit.at} now={now} />
      {', which changed '}
      <FileLocation file={commit.file} line={commit.line} />
    </p>
  );
}

function toReleases({ releases }: IncidentData): string {
  const first = releases[0]?.release;
  const last = releases.at(-1)?.release;
  if (!first || !last) return 'unknown';
  return first === last ? first : `${first} to ${last}`;
}
