import type { ReactNode } from 'react';

/** Props of the product's document (`<html>`, `<head>`, `<body>`). Outside the router, it cannot fail with a page. */
export interface DocumentProps {
  readonly lang: string;
  /** The engine's elements for `<head>`. Render them last. */
  readonly head: ReactNode;
  readonly children: ReactNode;
}
