import { Await, type PageProps } from '#engine';
import type { failLate } from '#product-server/pages/fail-late.ts';
import { Page } from '../../ui/page.tsx';

export default function FailLate({ data }: PageProps<typeof failLate>) {
  const { level } = data;
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
