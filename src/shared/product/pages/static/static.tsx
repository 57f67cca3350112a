import { useData } from '../../../engine/hooks.ts';
import { Code } from '../../ui/code.tsx';
import { Page } from '../../ui/page.tsx';

export interface StaticData {
  renderedAt: Date;
}

export default function Static() {
  const { renderedAt } = useData<StaticData>();
  return (
    <Page
      title="Static"
      lead="This page is rendered once and kept in memory. Whoever asks after 300 seconds still gets it at once, and it is rendered anew behind them."
    >
      <p>
        Rendered at{' '}
        <time id="rendered-at" dateTime={renderedAt.toISOString()}>
          {renderedAt.toISOString()}
        </time>
        . Load the page again: the time stays.
      </p>
      <p>Nothing about a visitor can enter it: its loader has no cookies, no session and no user to read.</p>
      <Code file="src/shared/product/routes.tsx">{`
{ id: 'static', path: '/tour/static', mode: 'static', page: () => import('./pages/static/static.tsx') }
`}</Code>
    </Page>
  );
}
