import { Component, type ReactNode, Suspense, use, useEffect } from 'react';
import { useNavigate } from 'react-router';
import type { PageError } from '../wire/payload.ts';
import type { LatePromise } from '../wire/wire.ts';
import { ErrorView } from './error-view.tsx';
import { useShownError } from './use-shown-error.ts';

export interface AwaitProps<Value> {
  /** A promise out of the loader's data, or a value that is there already. */
  readonly value: Promise<Value> | Value;
  readonly fallback?: ReactNode;
  readonly children: (value: Value) => ReactNode;
  /** Shown in this place alone when the value was rejected or could not be rendered. */
  readonly failed?: (error: PageError) => ReactNode;
}

/** Shows what streams in: boundary and Suspense in one. A value that fails costs its own place, never the page. */
export function Await<Value>({ value, fallback, children, failed = showFailure }: AwaitProps<Value>): ReactNode {
  return (
    <AwaitBoundary failed={failed}>
      <Suspense fallback={fallback}>
        <AwaitValue value={value} failed={failed}>
          {children}
        </AwaitValue>
      </Suspense>
    </AwaitBoundary>
  );
}

function AwaitValue<Value>({
  value,
  children,
  failed,
}: Required<Pick<AwaitProps<Value>, 'value' | 'children' | 'failed'>>): ReactNode {
  if (!isPromise(value)) return children(value);
  const settled = use(settle(value));
  return settled.ok ? children(settled.value) : <AwaitFailure thrown={settled.error} failed={failed} />;
}

function AwaitFailure({ thrown, failed }: { thrown: unknown; failed: (error: PageError) => ReactNode }): ReactNode {
  const error = useShownError(thrown);
  if (error.kind === 'redirect') return <AwaitRedirect to={error.location ?? '/'} />;
  return (
    <>
      {error.kind === 'failure' || error.kind === 'public' ? null : <meta name="robots" content="noindex" />}
      {failed(error)}
    </>
  );
}

/**
 * The status line is long gone: the document asks the browser to go. In the browser the page goes by
 * itself; the same element, put there by script, would load a document.
 */
function AwaitRedirect({ to }: { to: string }): ReactNode {
  const navigate = useNavigate();
  useEffect(() => {
    void navigate(to, { replace: true });
  }, [to, navigate]);
  return 'document' in globalThis ? null : <meta httpEquiv="refresh" content={`0;url=${to}`} />;
}

function showFailure(error: PageError): ReactNode {
  return <ErrorView error={error} inPlace />;
}

type Settled<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: unknown };

const toValue = <Value,>(value: Value): Settled<Value> => ({ ok: true, value });
const toError = (error: unknown): Settled<never> => ({ ok: false, error });

const settledByPromise = new WeakMap<Promise<unknown>, Promise<Settled<unknown>>>();

/**
 * A promise that never rejects: a rejection is rendered as content on both sides, so that it needs
 * no second render in the browser and no JavaScript to be read. The same promise gives the same
 * answer, which `use` depends on.
 */
function settle<Value>(promise: Promise<Value> & LatePromise): Promise<Settled<Value>> {
  const known = settledByPromise.get(promise);
  if (known) return known as Promise<Settled<Value>>; // set below, for this very promise
  const settled = promise.then(toValue, toError);
  // A value that was there before the first render is read at once, without a fallback's flash.
  const { status, value, reason } = promise;
  if (status === 'fulfilled') Object.assign(settled, { status, value: toValue(value) });
  if (status === 'rejected') Object.assign(settled, { status: 'fulfilled', value: toError(reason) });
  settledByPromise.set(promise, settled);
  return settled;
}

function isPromise<Value>(value: Promise<Value> | Value): value is Promise<Value> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

interface AwaitBoundaryProps {
  readonly failed: (error: PageError) => ReactNode;
  readonly children: ReactNode;
}

class AwaitBoundary extends Component<AwaitBoundaryProps, { readonly caught?: { readonly thrown: unknown } }> {
  override state: { readonly caught?: { readonly thrown: unknown } } = {};

  static getDerivedStateFromError(thrown: unknown) {
    return { caught: { thrown } };
  }

  override render(): ReactNode {
    const { failed, children } = this.props;
    const { caught } = this.state;
    return caught ? <AwaitFailure thrown={caught.thrown} failed={failed} /> : children;
  }
}
