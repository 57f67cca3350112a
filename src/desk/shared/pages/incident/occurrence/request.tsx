import type { ReactNode } from 'react';
import type { RequestShape } from '../../../shapes.ts';
import { Pairs, Panel } from '../../../ui/panel.tsx';
import styles from './request.module.css';

/** The request and its user agent. URLs are text, not links, because strangers can choose them. */
export function RequestPanel({
  of: request,
  route,
}: {
  readonly of: RequestShape;
  readonly route?: string | undefined;
}) {
  const { method, url, referrer, agent, headers } = request;
  const pairs: [string, ReactNode][] = [
    [method, <code key="url">{url}</code>],
    ...(route ? [['Route', <code key="route">{route}</code>] as [string, ReactNode]] : []),
    ...(referrer ? [['Came from', <code key="referrer">{referrer}</code>] as [string, ReactNode]] : []),
    ...(agent
      ? [
          [
            'Client',
            <span key="agent" title={agent.raw}>
              {agent.words}
            </span>,
          ] as [string, ReactNode],
        ]
      : []),
  ];
  return (
    <Panel title="Request">
      <Pairs of={pairs} />
      {headers.length + (agent ? 1 : 0) > 0 && (
        <details className={styles.headers}>
          <summary>Headers</summary>
          <Pairs of={toHeaders(request).map(([name, value]) => [name, <code key={name}>{value}</code>])} />
        </details>
      )}
    </Panel>
  );
}

function toHeaders({ agent, referrer, headers }: RequestShape): (readonly [string, string])[] {
  return [
    ...(agent ? [['user-agent', agent.raw] as const] : []),
    ...(referrer ? [['referer', referrer] as const] : []),
    ...headers,
  ];
}
