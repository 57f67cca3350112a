import type { ReactNode } from 'react';

/** Props of the owner's document: `<html>`, `<head>` and `<body>`. It stands outside the router, so it cannot fail with a page. */
export interface DocumentProps {
  readonly lang: string;
  /** What the engine puts into `<head>`; render it last. */
  readonly head: ReactNode;
  readonly children: ReactNode;
}
