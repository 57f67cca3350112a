import loader from 'excerpt:src/server/product/pages/streaming.ts#loader';
import gauges from 'excerpt:src/shared/product/pages/streaming/gauges.tsx#Gauges';
import { Excerpt } from '../../ui/excerpt.tsx';
import { Exhibit } from '../../ui/exhibit.tsx';
import { Page } from '../../ui/page.tsx';
import { Gauges } from './gauges.tsx';

export interface Reading {
  gauge: string;
  centimetres: number;
  /** Time from the request until the server had the value (ms). */
  afterMs: number;
}

export default function Streaming() {
  return (
    <Page
      title="Streaming"
      lead="A page does not wait for its slowest value. This loader returns a value and three promises. The page is sent with the value, and each promise fills its place when it settles, in the same response."
    >
      <Exhibit
        code={
          <>
            <Excerpt of={loader} />
            <Excerpt of={gauges} folded />
          </>
        }
      >
        <Gauges />
        {/* A plain anchor, because a Link would fetch only the data. */}
        <p>
          <a href="/tour/streaming">Reload the page</a>
        </p>
      </Exhibit>
    </Page>
  );
}
