import type { PageProps } from '../../../engine/routes.ts';

export interface HomeData {
  /** Of the latest incidents. */
  readonly rows: readonly { readonly digest: string; readonly title: string }[];
}

/** The latest incidents. */
export default function Home({ data }: PageProps<HomeData>) {
  return (
    <>
      <title>Incidents · Desk</title>
      <h1>Incidents</h1>
      {data.rows.length === 0 ? (
        <p>Nothing has failed yet. What fails will be listed here.</p>
      ) : (
        <ul>
          {data.rows.map(({ digest, title }) => (
            <li key={digest}>
              <code>{digest}</code> {title}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
