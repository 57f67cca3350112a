import { type ComponentType, type ReactNode, useContext, useLayoutEffect } from 'react';
import {
  UNSAFE_DataRouterDataContext as DataContext,
  Outlet,
  UNSAFE_DataRouterStateContext as StateContext,
} from 'react-router';
import type { PageProps } from '../routing/routes.ts';
import type { PageError } from '../wire/payload.ts';
import { FRAME_ROUTE, NOT_FOUND_ROUTE } from '../wire/protocol.ts';
import { useEngine } from './engine-context.ts';
import { ErrorView } from './error-view.tsx';

/** A route of the table, or one of the engine's two. */
export function RouteView({ id }: { id: string }): ReactNode {
  if (id === FRAME_ROUTE) return <Frame />;
  if (id === NOT_FOUND_ROUTE) return null; // never shown: it always has an error
  return <OwnRoute id={id} />;
}

function OwnRoute({ id }: { id: string }): ReactNode {
  const { modules, styles, onRoute } = useEngine();
  onRoute?.(id);
  const data: unknown = useContext(DataContext)?.loaderData[id];
  // The compiler checks the loaders against the props of the pages: ServerPages<typeof routes>.
  const Page = modules.get(id)?.default as ComponentType<PageProps<unknown>> | undefined;
  if (!Page) throw new Error(`The module of route "${id}" was not loaded before it was rendered.`);
  return (
    <>
      <RouteStyles hrefs={styles.get(id)} />
      <Page data={data} />
    </>
  );
}

/** Shown in place of a failed route: its own boundary, or the product's page for the error. */
export function RouteErrorView({ id, error }: { id: string; error: PageError }): ReactNode {
  const { modules, styles } = useEngine();
  const OwnBoundary = modules.get(id)?.ErrorBoundary;
  return (
    <>
      <RouteStyles hrefs={styles.get(id)} />
      {OwnBoundary ? <OwnBoundary /> : <ErrorView error={error} />}
      {error.typed && <Typed values={error.typed} />}
    </>
  );
}

/** Without JavaScript the form is gone, so the visitor copies from here. */
function Typed({ values }: { values: NonNullable<PageError['typed']> }): ReactNode {
  return Object.entries(values).map(([name, value]) => (
    <p key={name}>
      <label>
        {name} <textarea readOnly defaultValue={value} />
      </label>
    </p>
  ));
}

/** With a precedence, React waits for the sheet before it shows the page: no flash of unstyled content. */
function RouteStyles({ hrefs }: { hrefs: readonly string[] | undefined }): ReactNode {
  return hrefs?.map((href) => <link key={href} rel="stylesheet" href={href} precedence="page" />);
}

function Frame(): ReactNode {
  const { onCommit } = useEngine();
  const state = useContext(StateContext);
  const location = state?.location;
  // The scroll position and its reset change in the same commit as the location.
  useLayoutEffect(() => {
    if (state) onCommit?.(state);
  }, [location]);
  return <Outlet />;
}
