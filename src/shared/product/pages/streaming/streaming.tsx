import { useData } from '../../../engine/hooks.ts';
import { Late } from '../../../engine/late.tsx';
import { Code } from '../../ui/code.tsx';
import { Page } from '../../ui/page.tsx';
import styles from './streaming.module.css';

export interface Reading {
  gauge: string;
  centimetres: number;
  takenAt: Date;
}

export interface StreamingData {
  near: Reading;
  upstream: Promise<Reading>;
  mountains: Promise<Reading>;
  broken: Promise<Reading>;
}

export default function Streaming() {
  const { near, upstream, mountains, broken } = useData<StreamingData>();
  return (
    <Page
      title="Streaming"
      lead="The loader of this page answers with one value and three promises. The value is in the first bytes; each promise fills its place when it settles, in the same response."
    >
      <dl className={styles.gauges}>
        <dt>In the loader's data, at once</dt>
        <dd id="near">
          <Level reading={near} />
        </dd>
        <dt>A promise that takes 500 ms</dt>
        <dd id="upstream">
          <Late value={upstream} fallback={<p>Asking upstream…</p>}>
            {(reading) => <Level reading={reading} />}
          </Late>
        </dd>
        <dt>A promise that takes 1 s</dt>
        <dd id="mountains">
          <Late value={mountains} fallback={<p>Asking in the mountains…</p>}>
            {(reading) => <Level reading={reading} />}
          </Late>
        </dd>
        <dt>A promise that is rejected after 750 ms</dt>
        <dd id="broken">
          <Late
            value={broken}
            fallback={<p>Asking a gauge that will not answer…</p>}
            failed={(error) => <p className={styles.failed}>{error.message}</p>}
          >
            {(reading) => <Level reading={reading} />}
          </Late>
        </dd>
      </dl>
      <Code file="src/shared/product/pages/streaming/streaming.tsx">{`
<Late value={upstream} fallback={<p>Asking upstream…</p>}>
  {(reading) => <Level reading={reading} />}
</Late>
`}</Code>
      <Code file="src/server/product/pages/streaming.ts">{`
loader: ({ signal }) => ({
  near: read('at the bridge'),
  upstream: setTimeout(500, undefined, { signal }).then(() => read('upstream')),
})
`}</Code>
    </Page>
  );
}

function Level({ reading }: { reading: Reading }) {
  return (
    <p>
      <strong>{reading.centimetres} cm</strong> {reading.gauge}, read at{' '}
      <time dateTime={reading.takenAt.toISOString()}>{reading.takenAt.toISOString().slice(11, 23)}</time>
    </p>
  );
}
