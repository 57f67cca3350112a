import { Page } from '../../ui/page.tsx';

export default function FailUnauthorized() {
  return <Page title="For those who signed in" lead="You should not be able to read this." />;
}
