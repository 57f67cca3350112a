import { type PageProps, usePageError } from '#engine';
import type { layoutTab } from '#product-server/pages/layout-tab.ts';

export default function LayoutTab({ data }: PageProps<typeof layoutTab>) {
  const { name, text, example } = data;
  return (
    <>
      <title>{`${name} · Layouts · Spillway`}</title>
      <h2>{name}</h2>
      <p>{text}</p>
      <p>For example: {example}.</p>
    </>
  );
}

/** Replaces the page only. The list in the layout still works. */
export function ErrorBoundary() {
  const error = usePageError();
  const title = error.kind === 'not-found' ? 'There is no such dam' : 'This dam cannot be shown';
  return (
    <>
      <title>{`${title} · Layouts · Spillway`}</title>
      <meta name="robots" content="noindex" />
      <h2>{title}</h2>
      {error.digest && <p>Digest: {error.digest}</p>}
      <p>The layout still works. Choose another dam from the list.</p>
    </>
  );
}
