import { Link } from '#engine';
import { toIncidentHref } from '../../../href.ts';
import type { IncidentData } from '../../../page-data.ts';
import type {
  ComponentShape,
  FullShape,
  MissedShape,
  OccurrenceShape,
  RequestShape,
  TestShape,
} from '../../../shapes.ts';
import { Ago } from '../../../ui/ago.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { type Pair, Pairs, Panel } from '../../../ui/panel.tsx';
import { MISSED_WORDS, toExactTime, toPlural } from '../../../words.ts';
import { Breadcrumbs } from './breadcrumbs.tsx';
import styles from './occurrence-view.module.css';
import { Stack } from './stack.tsx';
import { Story } from './story.tsx';

/** One occurrence with all its stored data. */
export function OccurrenceView({ of: data }: { readonly of: IncidentData }) {
  const { shown } = data;
  if (!shown) return <NoOccurrence of={data} />;
  return (
    <>
      <Steps of={data} shown={shown} />
      {shown.full ? (
        <Full of={shown.full} shown={shown} now={data.now} />
      ) : (
        <Panel title="Sampled out">
          <p>Of each incident and hour, the desk stores 100 occurrences of servers in full, and 100 of browsers.</p>
          <Pairs of={toIds(shown)} />
        </Panel>
      )}
    </>
  );
}

function NoOccurrence({ of: { missed } }: { readonly of: IncidentData }) {
  return (
    <Panel title="No stored occurrences">
      <p>
        {missed
          ? missed.state === 'arriving'
            ? `${missed.occurrence} may not be stored yet, because more failures are arriving. Reload the page in a moment.`
            : `${missed.occurrence} is not stored, and neither is any other occurrence of this incident.`
          : 'Occurrences are deleted when they are too old or the store is full. Their counts remain.'}
      </p>
    </Panel>
  );
}

function Steps({
  of: { digest, scope, newer, older, missed, now, releases },
  shown,
}: {
  readonly of: IncidentData;
  readonly shown: OccurrenceShape;
}) {
  return (
    <section className={styles.steps} aria-label="Occurrence">
      {missed && <Missed of={missed} now={now} />}
      <p className={styles.which}>
        <code>{shown.occurrence}</code> <Ago at={shown.at} now={now} />, {toExactTime(shown.at)},{' '}
        {shown.side === 'server' ? 'on the server' : 'in the browser'}
        {releases.length > 1 && shown.release && `, ${shown.release}`}
      </p>
      <nav className={styles.neighbours} aria-label="Occurrences">
        {older ? (
          <Link to={toIncidentHref(digest, older, scope)} rel="prev" preventScrollReset>
            ← Older
          </Link>
        ) : (
          <span>← Older</span>
        )}
        {newer ? (
          <Link to={toIncidentHref(digest, newer, scope)} rel="next" preventScrollReset>
            Newer →
          </Link>
        ) : (
          <span>Newer →</span>
        )}
      </nav>
    </section>
  );
}

function Missed({ of: { occurrence, state, at, requestId }, now }: { readonly of: MissedShape; readonly now: number }) {
  return (
    <p className={styles.missed} role="status">
      <code>{occurrence}</code>
      {at !== undefined && (
        <>
          {', '}
          <Ago at={at} now={now} />
        </>
      )}
      {requestId && (
        <>
          , request <code>{requestId}</code>
        </>
      )}{' '}
      {MISSED_WORDS[state]}
    </p>
  );
}

function Full({
  of: full,
  shown,
  now,
}: {
  readonly of: FullShape;
  readonly shown: OccurrenceShape;
  readonly now: number;
}) {
  return (
    <>
      {full.story && <Story of={full.story} now={now} />}
      {full.errors.length > 0 && <Stack of={full} />}
      {full.test && <Test of={full.test} />}
      {full.components.length > 0 && <Components of={full.components} />}
      {full.request && <RequestPanel of={full.request} route={shown.route} />}
      <Breadcrumbs of={full.breadcrumbs} failedAt={shown.at} errors={full.errors} />
      <Panel title="Trace and tags">
        <Pairs of={[...toIds(shown), ...toTraceIds(full), ...toTexts(full.tags)]} />
      </Panel>
      {full.extra.length > 0 && (
        <Panel title="Extra data">
          <Pairs of={toTexts(full.extra)} />
        </Panel>
      )}
      {full.cut.length > 0 && <p className="quiet">{`Cut to fit the limits: ${full.cut.join(', ')}.`}</p>}
    </>
  );
}

/** A test that fails as this occurrence did. Without scripts, the text can be selected. */
function Test({ of: { file, text } }: { readonly of: TestShape }) {
  return (
    <Panel title="Test" aside={<CopyButton text={text}>Copy test</CopyButton>}>
      <details>
        <summary>{file}</summary>
        <pre>{text}</pre>
      </details>
    </Panel>
  );
}

/** Components that are shown: at most, and if no component of the engine follows the app's. */
const MOST_COMPONENTS = 12;
const COMPONENTS = 6;

/** React's component stack, innermost first. Components from the engine's first one outwards are folded. */
function Components({ of: components }: { readonly of: readonly ComponentShape[] }) {
  const firstOfEngine = components.findIndex(({ place, isProduct }) => place !== '' && !isProduct);
  const shown = firstOfEngine <= 0 ? COMPONENTS : Math.min(firstOfEngine, MOST_COMPONENTS);
  const outer = components.slice(shown);
  return (
    <Panel title="Components around it">
      <ComponentList of={components.slice(0, shown)} />
      {outer.length > 0 && (
        <details>
          <summary>{`${toPlural(outer.length, 'component')} further out`}</summary>
          <ComponentList of={outer} />
        </details>
      )}
    </Panel>
  );
}

function ComponentList({ of: components }: { readonly of: readonly ComponentShape[] }) {
  return (
    <ol className={styles.components}>
      {components.map(({ name, place }, index) => (
        <li key={index}>
          <code>{`<${name}>`}</code> {place && <code className="quiet">{place}</code>}
        </li>
      ))}
    </ol>
  );
}

/** The request and its user agent. URLs are text, not links, because strangers can choose them. */
function RequestPanel({ of: request, route }: { readonly of: RequestShape; readonly route: string | undefined }) {
  const { method, url, referrer, agent } = request;
  const facts = toTexts([
    [method, url],
    ['Route', route],
    ['Came from', referrer],
  ]);
  return (
    <Panel title="Request">
      <Pairs of={[...facts, ['Client', agent && <span title={agent.raw}>{agent.words}</span>]]} />
      <details className={styles.headers}>
        <summary>Headers</summary>
        <Pairs of={toTexts([['user-agent', agent?.raw], ['referer', referrer], ...request.headers])} />
      </details>
    </Panel>
  );
}

/** Links to the latest occurrences. */
export function Recent({ of: { recent, digest, scope, now, shown, releases } }: { readonly of: IncidentData }) {
  if (recent.length < 2) return null;
  return (
    <Panel title="Latest occurrences">
      <ul className={styles.recent}>
        {recent.map(({ occurrence, at, side, release }) => (
          <li key={occurrence}>
            <Link
              to={toIncidentHref(digest, occurrence, scope)}
              aria-current={occurrence === shown?.occurrence ? 'page' : undefined}
              prefetch="none"
            >
              <code>{occurrence}</code>
            </Link>{' '}
            <Ago at={at} now={now} />{' '}
            <span className="quiet">{releases.length > 1 && release ? `${side}, ${release}` : side}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function toIds({ requestId, visitor, build, release }: OccurrenceShape) {
  return toTexts([
    ['Request', requestId],
    ['Release', release],
    ['Build', build],
    ['Visitor', visitor],
  ]);
}

function toTraceIds({ traceId, traceLink, spanId, origin, level }: FullShape) {
  return toTexts([
    ['Trace', traceLink ? <a href={traceLink}>{traceId}</a> : traceId],
    ['Span', spanId],
    ['Failed', origin],
    ['Level', level],
  ]);
}

function toTexts(pairs: readonly Pair[]): Pair[] {
  return pairs.map(([name, value]) => [name, value && <code key={name}>{value}</code>]);
}
