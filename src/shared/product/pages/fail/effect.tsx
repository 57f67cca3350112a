import { useEffect } from 'react';
import { Page } from '../../ui/page.tsx';

export default function FailEffect() {
  useEffect(() => {
    throw new Error('The tour threw this in an effect.');
  }, []);
  return <Page title="An effect that throws" lead="The server can render this page. It fails only in the browser." />;
}
