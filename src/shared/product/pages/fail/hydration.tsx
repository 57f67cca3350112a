import { Page } from '../../ui/page.tsx';

export default function FailHydration() {
  const place = 'window' in globalThis ? 'the browser' : 'the server';
  return (
    <Page
      title="Two renders that differ"
      lead="The browser must render what the server did. Here it does not: React notices, and renders the page anew."
    >
      <p id="place">Rendered by {place}.</p>
    </Page>
  );
}
