import type { ReactNode } from 'react';
import { Await, useData } from '#engine';
import type { streaming } from '#product-server/pages/streaming.ts';
import styles from './gauges.module.css';
import type { Reading } from './streaming.tsx';

export function Gauges() {
  const { near, upstream, mountains, broken } = useData<typeof streaming>();
  return (
    <dl className={styles.gauges}>
      <Place id="near" title="A value that is ready">
        <Level reading={near} />
      </Place>
      <Place id="upstream" title="A promise that takes 500 ms">
        <Await value={upstream} fallback={<p>Asking upstream…</p>}>
          {(reading) => <Level reading={reading} />}
        </Await>
      </Place>
      <Place id="broken" title="A promise that is rejected after 750 ms">
        <Await
          value={broken}
          fallback={<p>Asking a broken gauge…</p>}
          failed={(error) => <p className={styles.failed}>{error.message}</p>}
        >
          {(reading) => <Level reading={reading} />}
        </Await>
      </Place>
      <Place id="mountains" title="A promise that takes 1 s">
        <Await value={mountains} fallback={<p>Asking in the mountains…</p>}>
          {(reading) => <Level reading={reading} />}
        </Await>
      </Place>
    </dl>
  );
}

function Place({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd id={id}>{children}</dd>
    </div>
  );
}

function Level({ reading }: { reading: Reading }) {
  return (
    <div className={styles.level}>
      <p>
        <strong>{reading.centimetres} cm</strong> {reading.gauge}
      </p>
      <p>{reading.afterMs}&nbsp;ms after the request</p>
    </div>
  );
}
