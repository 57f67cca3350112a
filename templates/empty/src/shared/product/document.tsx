import type { DocumentProps } from '#engine';

/** The HTML document of every page. `head` has the styles, preloads and scripts that Spillway adds. */
export function Document({ lang, head, children }: DocumentProps) {
  return (
    <html lang={lang}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        {head}
      </head>
      <body>{children}</body>
    </html>
  );
}
