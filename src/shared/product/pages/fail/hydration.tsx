import { Page } from '../../ui/page.tsx';

export default function FailHydration() {
  const place = 'window' in globalThis ? 'the browser' : 'the server';
  return (
    <Page
      title="Two renders that differ"
      lead="The browser must render the same as the server. Here it does not, so React renders the page again."
    >
      <p id="place">Rendered by {place}.</p>
    </Page>
  );
}
