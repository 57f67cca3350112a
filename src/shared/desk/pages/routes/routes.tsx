import { Link } from '../../../engine/routing/link.tsx';
import type { PageProps } from '../../../engine/routing/routes.ts';
import { ROUTE_SORTS } from '../../choices.ts';
import { toIncidentHref, toRoutesHref } from '../../href.ts';
import type { RoutesData, SlowestShape } from '../../shapes.ts';
import { Panel } from '../../ui/panel.tsx';
import { toCount, toDuration, toExactTime, toIsoTime } from '../../words.ts';
import styles from './routes.module.css';

/** How often each route was requested in the last 24 hours, how it failed and how long it took. */
export default function Routes({ data }: PageProps<RoutesData>) {
  const { routes, slowest } = data;
  return (
    <div className={styles.page}>
      <title>Routes · Desk</title>
      <h1>Routes, last 24 hours</h1>
      {routes.length === 0 ? <p>No requests yet.</p> : <Table of={data} />}
      {slowest.length > 0 && (
        <Panel title="Slowest request of each hour">
          <ul className={styles.hours}>
            {slowest.map((one) => (
              <li key={one.hour}>
                <Slowest of={one} scope={data.scope} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </div>
  );
}

function Table({ of: { routes, sort, scope } }: { readonly of: RoutesData }) {
  return (
    <table className={styles.routes}>
      <thead>
        <tr>
          {ROUTE_SORTS.map(([name, words]) => (
            <th
              key={name}
              scope="col"
              aria-sort={name !== sort ? undefined : name === 'route' ? 'ascending' : 'descending'}
            >
              <Link to={toRoutesHref(name, scope)} preventScrollReset>
                {words}
              </Link>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {routes.map(({ route, requests, errors, p50, p99 }) => (
          <tr key={route}>
            <th scope="row">
              <code>{route}</code>
            </th>
            <td>{toCount(requests)}</td>
            <td className={errors > 0 ? styles.failed : undefined} title={`${toCount(errors)} with status 5xx`}>
              {toShare(errors, requests)}
            </td>
            <td>{toTime(p50)}</td>
            <td>{toTime(p99)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** One request. Its path is text, not a link, because strangers can choose it. */
function Slowest({ of: slow, scope }: { readonly of: SlowestShape; readonly scope: string }) {
  const { at, ms, method, path, status, requestId, traceId, traceLink, address, timings } = slow;
  return (
    <details>
      <summary>
        <time dateTime={toIsoTime(slow.hour)}>{toExactTime(slow.hour).slice(5, 16)}</time>{' '}
        <strong>{toDuration(ms)}</strong> <code>{`${method} ${slow.route}`}</code>
      </summary>
      <ul className={styles.facts}>
        {timings.map(([name, took], index) => (
          <li key={index}>{`${name}: ${toDuration(took)}`}</li>
        ))}
        <li>
          <code>{path}</code>, {status ?? 'the visitor left'}, ended {toExactTime(at)}
        </li>
        <li>
          Request <code>{requestId}</code>
        </li>
        {traceId && (
          <li>
            Trace <code>{traceLink ? <a href={traceLink}>{traceId}</a> : traceId}</code>
          </li>
        )}
        {address && (
          <li>
            Failed as <Link to={toIncidentHref(address, undefined, scope)}>{address}</Link>
          </li>
        )}
      </ul>
    </details>
  );
}

/** `0 %`, `< 0.1 %`, `2.4 %` */
function toShare(part: number, all: number): string {
  const percent = (100 * part) / all;
  if (part === 0 || percent >= 99.95) return `${Math.round(percent)} %`;
  return percent < 0.1 ? '< 0.1 %' : `${percent.toFixed(1)} %`;
}

/** @param ms undefined if it is above the largest bucket of the histogram */
function toTime(ms: number | undefined): string {
  return ms === undefined ? '> 10 s' : toDuration(ms);
}
