import { Page } from '../../ui/page.tsx';

export default function FailUnauthorized() {
  return <Page title="For signed-in users" lead="You should not be able to read this." />;
}
