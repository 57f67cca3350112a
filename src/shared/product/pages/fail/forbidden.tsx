import { Page } from '../../ui/page.tsx';

export default function FailForbidden() {
  return <Page title="For administrators" lead="You should not be able to read this." />;
}
