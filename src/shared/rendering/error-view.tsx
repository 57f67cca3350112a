import { Component, type ReactNode, use, useContext, useEffect, useState } from 'react';
import { UNSAFE_LocationContext as LocationContext } from 'react-router';
import type { PageError, PageErrorKind, ReportedAddress } from '../wire/payload.ts';
import { type ErrorPages, useEngine } from './engine-context.ts';
import { type EngineText, languageOf, say } from './language.ts';

/** Shows the product's page for an error, or with `inPlace` a line in place of a deferred value. */
export function ErrorView({ error, inPlace = false }: { error: PageError; inPlace?: boolean }): ReactNode {
  const { errorPages, host } = useEngine();
  if (inPlace) return <ErrorLine error={error} />;
  const Page = errorPages[KINDS[error.kind as ShownKind].page];
  return (
    <ErrorPageBoundary error={error}>
      <Page error={error} host={host} />
    </ErrorPageBoundary>
  );
}

/** Shows the line for an error whose page fails too. No boundary around it could do better. */
class ErrorPageBoundary extends Component<{ error: PageError; children: ReactNode }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError = () => ({ hasFailed: true });

  override render(): ReactNode {
    return this.state.hasFailed ? <ErrorLine error={this.props.error} /> : this.props.children;
  }
}

/** Returns a function that says a sentence in the language of the page. */
function useText(): (text: EngineText) => string {
  const { document } = useEngine();
  const path = useContext(LocationContext)?.location.pathname ?? ''; // none in a test of a component
  return (text) => say(languageOf(document, path), text);
}

function ErrorLine({ error }: { error: PageError }): ReactNode {
  const toText = useText();
  return (
    <p role="alert">
      {error.message ?? toText(KINDS[error.kind as ShownKind].line)}
      {error.digest && (
        <>
          {` ${toText('Digest:')} `}
          <ErrorDigest error={error} />
        </>
      )}
    </p>
  );
}

/** Nothing is shown for a redirect, which the engine follows. */
type ShownKind = Exclude<PageErrorKind, 'redirect'>;

const KINDS: Record<ShownKind, { readonly page: keyof ErrorPages; readonly line: EngineText }> = {
  'not-found': { page: 'notFound', line: 'This could not be found.' },
  forbidden: { page: 'forbidden', line: 'You do not have access to this.' },
  unauthorized: { page: 'unauthorized', line: 'Sign in to see this.' },
  public: { page: 'public', line: 'This could not be loaded.' },
  failure: { page: 'failure', line: 'This could not be loaded.' },
};

/**
 * Returns the error that the page can show for a thrown value, and notifies the engine that it is
 * shown. A failure in the browser gets its address later, once the server has received the report.
 */
export function useShownError(thrown: unknown): PageError {
  const { onShownError, reloadFor, toPageError } = useEngine();
  const reload = reloadFor?.(thrown);
  if (reload) use(reload); // keeps what is shown until the document is there
  const error = toPageError(thrown);
  const [reported, setReported] = useState<ReportedAddress & { of: unknown }>();
  useEffect(
    () => onShownError?.(error, thrown, (address) => setReported({ ...address, of: thrown })),
    [thrown, onShownError],
  );
  if (!reported || reported.of !== thrown || error.digest !== undefined) return error;
  const { of: _, ...address } = reported;
  return { ...error, ...address };
}

/** The digest of a failure. For visitors who can open the failure, it is a link to it. */
export function ErrorDigest({ error: { digest, url } }: { readonly error: PageError }): ReactNode {
  return <code>{url ? <a href={url}>{digest}</a> : digest}</code>;
}
