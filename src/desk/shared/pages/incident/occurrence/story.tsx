import type { StoryOf, StoryShape } from '../../../shapes.ts';
import { Ago } from '../../../ui/ago.tsx';
import { Pairs, Panel } from '../../../ui/panel.tsx';
import { toDuration, toMebibytes } from '../../../words.ts';
import styles from './story.module.css';

/** Details of a kind: shown first, because these kinds have no stack, or only React's. */
export function Story({ of: story, now }: { readonly of: StoryShape; readonly now: number }) {
  switch (story.kind) {
    case 'hydration':
      return <Mismatch of={story} />;
    case 'unclean-death':
      return <Death of={story} now={now} />;
    case 'blocked-loop':
      return story.inFlight.length > 0 && <Blocked of={story} />;
  }
}

function Mismatch({ of: { said, meaning } }: { readonly of: StoryOf<'hydration'> }) {
  return (
    <Panel title="What differed">
      {meaning && <p>{meaning}</p>}
      {said && (
        <pre className={styles.difference}>
          {said.split('\n').map((line, index) => (
            <span key={index} className={styles[toSide(line)]}>
              {line}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
      <p className={styles.quiet}>
        {said.split('\n').some((line) => toSide(line) !== 'same') &&
          'Lines with + were rendered by the browser, lines with - by the server. '}
        Common causes are the clock, the time zone, the language, random values, and markup that HTML does not allow.
      </p>
    </Panel>
  );
}

function toSide(line: string): 'server' | 'browser' | 'same' {
  if (/^\s*\+/.test(line)) return 'browser';
  return /^\s*-/.test(line) ? 'server' : 'same';
}

function Death({ of: story, now }: { readonly of: StoryOf<'unclean-death'>; readonly now: number }) {
  const { startedAt, lastHeardAt, memory, heap, blockedFor, inFlight } = story;
  return (
    <Panel title="The process died">
      <Pairs
        of={[
          ['Last heartbeat', <Ago key="heard" at={lastHeardAt} now={now} />],
          ['Uptime', startedAt && toDuration(lastHeardAt - startedAt)],
          ['Memory', memory && toMebibytes(memory)],
          ['Heap', heap && `${toMebibytes(heap.used)} of ${toMebibytes(heap.limit)}`],
          ['Blocked for', blockedFor && toDuration(blockedFor)],
        ]}
      />
      <p className={styles.quiet}>
        It was killed, ran out of memory, or the machine stopped. No error was thrown.{' '}
        {inFlight.length === 0 && 'No requests were in flight at the last heartbeat.'}
      </p>
      {inFlight.length > 0 && <InFlight of={inFlight} />}
    </Panel>
  );
}

function Blocked({ of: { inFlight } }: { readonly of: StoryOf<'blocked-loop'> }) {
  return (
    <Panel title="When the block began">
      <InFlight of={inFlight} />
    </Panel>
  );
}

function InFlight({ of: requests }: { readonly of: StoryOf<'unclean-death'>['inFlight'] }) {
  return (
    <table className={styles.requests}>
      <caption>Requests in flight, newest first</caption>
      <thead>
        <tr>
          <th scope="col">For</th>
          <th scope="col">Request</th>
          <th scope="col">Id</th>
        </tr>
      </thead>
      <tbody>
        {requests.map(({ requestId, method, route, ms }) => (
          <tr key={requestId}>
            <td>{toDuration(ms)}</td>
            <td>
              <code>{`${method} ${route}`}</code>
            </td>
            <td>
              <code>{requestId}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
