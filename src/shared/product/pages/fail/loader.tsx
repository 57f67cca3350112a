import { Page } from '../../ui/page.tsx';

export default function FailLoader() {
  return <Page title="A loader that throws" lead="You should not be able to read this." />;
}
