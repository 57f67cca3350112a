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
      lead="This page was sent before the promise rejected. Only the place of the promise shows the failure."
    >
      <Await value={level} fallback={<p>Asking a broken gauge…</p>}>
        {(text) => <p>{text}</p>}
      </Await>
    </Page>
  );
}
