import type { ReactNode } from 'react';

interface PageProps {
  title: string;
  lead: ReactNode;
  children?: ReactNode;
}

/** The frame of a tour page: title, heading and introduction. */
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
