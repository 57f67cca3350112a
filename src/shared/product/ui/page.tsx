import type { ReactNode } from 'react';

interface PageProps {
  title: string;
  lead: ReactNode;
  children?: ReactNode;
}

/** What every page of the tour begins with: its title, its heading and one paragraph that says what it shows. */
export function Page({ title, lead, children }: PageProps) {
  return (
    <article>
      <title>{`${title} · Spillway`}</title>
      <h1>{title}</h1>
      <p className="lead">{lead}</p>
      {children}
    </article>
  );
}
