import { Page } from '../../ui/page.tsx';

export default function FailForbidden() {
  return <Page title="For the lock keeper" lead="You should not be able to read this." />;
}
