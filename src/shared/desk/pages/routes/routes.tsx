import { Link } from '../../../engine/routing/link.tsx';
import type { PageProps } from '../../../engine/routing/routes.ts';
import { toCount, toDuration, toExactTime } from '../../../words.ts';
import { ROUTE_SORTS } from '../../choices.ts';
import { toIncidentHref, toRoutesHref } from '../../href.ts';
import type { RoutesData, SlowestShape } from '../../shapes.ts';
import { Panel } from '../../ui/panel.tsx';
import styles from './routes.module.css';

/** How often each route was requested in the last 24 hours, how it failed and how long it took. */
export default function Routes({ data: { routes, slowest, sort, scope } }: PageProps<RoutesData>) {
  return (
    <div className={styles.page}>
      <title>Routes · Desk</title>
      <h1>Routes, last 24 hours</h1>
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
              <td className={errors > 0 ? styles.failed : undefined}>{`${(100 * errors).toFixed(1)} %`}</td>
              <td>{toTime(p50)}</td>
              <td>{toTime(p99)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Panel title="Slowest request of each hour">
        <ul className={styles.hours}>
          {slowest.map((one) => (
            <li key={one.at}>
              <Slowest of={one} scope={scope} />
            </li>
          ))}
        </ul>
      </Panel>
    </div>
  );
}

/** @param ms undefined if it is above the largest bucket of the histogram */
function toTime(ms: number | undefined): string {
  return ms === undefined ? '> 10 s' : toDuration(ms);
}

/** One request. Its path is text, not a link, because strangers can choose it. */
function Slowest({ of: slow, scope }: { readonly of: SlowestShape; readonly scope: string }) {
  const { at, ms, method, path, status, requestId, address, timings } = slow;
  const parts = timings.map(([name, took]) => `${name} ${toDuration(took)}`);
  return (
    <>
      {toExactTime(at)} <strong>{toDuration(ms)}</strong> <code>{`${method} ${path}`}</code>
      {`, ${[status ?? 'the visitor left', ...parts].join(', ')}, request `}
      <code>{requestId}</code>
      {address && (
        <>
          {', failed as '}
          <Link to={toIncidentHref(address, undefined, scope)}>{address}</Link>
        </>
      )}
    </>
  );
}
