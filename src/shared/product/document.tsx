import type { DocumentProps } from '#engine';

/** The HTML document of every page. `head` has the styles, preloads and scripts that Spillway adds. */
export function Document({ lang, head, children }: DocumentProps) {
  return (
    <html lang={lang}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" media="(prefers-color-scheme: light)" content="#eff4f5" />
        <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#141f23" />
        <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        <link rel="manifest" href="/manifest.webmanifest" />
        {head}
      </head>
      <body>{children}</body>
    </html>
  );
}
