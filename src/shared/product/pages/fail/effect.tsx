import { useEffect } from 'react';
import { Page } from '../../ui/page.tsx';

export default function FailEffect() {
  useEffect(() => {
    throw new Error('The tour threw this in an effect.');
  }, []);
  return (
    <Page title="An effect that throws" lead="The server rendered this page well. It fails in the browser alone." />
  );
}
