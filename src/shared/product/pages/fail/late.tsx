import { Await, useData } from '#engine';
import { Page } from '../../ui/page.tsx';

export interface FailLateData {
  level: Promise<string>;
}

export default function FailLate() {
  const { level } = useData<FailLateData>();
  return (
    <Page
      title="A promise that is rejected"
      lead="This page was sent before the promise failed. What was rendered stays; the failure takes its own place."
    >
      <Await value={level} fallback={<p>Asking a gauge that will break…</p>}>
        {(text) => <p>{text}</p>}
      </Await>
    </Page>
  );
}
