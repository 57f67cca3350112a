import type { DocumentProps } from '#engine';

/** The document of the desk's pages. It works without the product: it does not use its manifest and icon. */
export function Document({ lang, head, children }: DocumentProps) {
  return (
    <html lang={lang}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff" />
        <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#131c20" />
        <meta name="robots" content="noindex, nofollow" />
        <link rel="icon" href="data:," />
        {head}
      </head>
      <body>{children}</body>
    </html>
  );
}
