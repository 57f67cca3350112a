import type { DocumentProps } from '../engine/rendering/document.ts';

/** The page around every page of the desk. Without the product's manifest and icon: the desk stands without it. */
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
