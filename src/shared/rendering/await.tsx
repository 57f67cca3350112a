import { Component, type ReactNode, Suspense, startTransition, use, useContext, useEffect, useState } from 'react';
import { UNSAFE_LocationContext as LocationContext } from 'react-router';
import type { DeferredPromise } from '../wire/decode.ts';
import type { PageError } from '../wire/payload.ts';
import { toPromise } from '../wire/plain.ts';
import { ErrorView, useShownError } from './error-view.tsx';

export interface AwaitProps<Value> {
  /** A promise from the loader's data, or a value that is already available. */
  readonly value: Promise<Value> | Value;
  readonly fallback?: ReactNode;
  readonly children: (value: Value) => ReactNode;
  /** Shown in place of the value if it was rejected or could not be rendered. */
  readonly failed?: (error: PageError) => ReactNode;
}

/** Renders a deferred value, with Suspense and an error boundary: if it fails, the rest of the page stays. */
export function Await<Value>({ value, fallback, children, failed = showFailure }: AwaitProps<Value>): ReactNode {
  const shown = useShownValue(value);
  return (
    <AwaitBoundary value={shown} failed={failed}>
      <Suspense fallback={fallback}>
        <AwaitValue value={shown} failed={failed}>
          {children}
        </AwaitValue>
      </Suspense>
    </AwaitBoundary>
  );
}

/**
 * Returns the value to show. If the same page has a new one, as after a form, that is the last value until the new one
 * has settled: React would wait for it with the whole page, and with the answer to the form.
 */
function useShownValue<Value>(value: Value): Value {
  const { pathname, search } = useContext(LocationContext)?.location ?? {};
  const path = `${pathname}${search}`;
  const [shown, setShown] = useState({ value, path });
  const isHeld = path === shown.path && isSettled(shown.value) && !isSettled(value);
  if (!isHeld && (value !== shown.value || path !== shown.path)) setShown({ value, path });
  useEffect(() => {
    if (!isHeld || !isPromise(value)) return;
    let isOver = false;
    void settle(value).then(() => {
      if (!isOver) startTransition(() => setShown({ value, path }));
    });
    return () => {
      isOver = true;
    };
  }, [isHeld, value, path]);
  return isHeld ? shown.value : value;
}

function isSettled(value: unknown): boolean {
  return !isPromise(value) || (settle(value) as DeferredPromise).status !== undefined;
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
  if (error.kind === 'redirect') {
    // By now the status has been sent. In the browser, the engine follows the redirect.
    return 'document' in globalThis ? null : <meta httpEquiv="refresh" content={`0;url=${error.location}`} />;
  }
  return (
    <>
      {error.kind === 'failure' || error.kind === 'public' ? null : <meta name="robots" content="noindex" />}
      {failed(error)}
    </>
  );
}

function showFailure(error: PageError): ReactNode {
  return <ErrorView error={error} inPlace />;
}

type Settled<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: unknown };

const toValue = <Value,>(value: Value): Settled<Value> => ({ ok: true, value });
const toError = (error: unknown): Settled<never> => ({ ok: false, error });

/** The result of `settle`. With a WeakMap for all promises, each garbage collection under load took a fifth longer. */
const SETTLED = Symbol('spillway.settled');
/** For promises that code has frozen. */
const settledFrozen = new WeakMap<Promise<unknown>, Promise<Settled<unknown>>>();

/**
 * Returns a promise that never rejects. A rejection is rendered as content on both sides, so the browser need not
 * render it again, and it can be read without JavaScript. The same promise gives the same result, as `use` requires.
 */
function settle<Value>(
  promise: Promise<Value> & DeferredPromise & { [SETTLED]?: Promise<Settled<Value>> },
): Promise<Settled<Value>> {
  const known = promise[SETTLED] ?? settledFrozen.get(promise);
  if (known) return known as Promise<Settled<Value>>; // set below, for this very promise
  const settled = toPromise<Value>(promise).then(toValue<Value>, toError);
  // `use` reads a value that settled before the first render without suspending, so no fallback flashes.
  const { status, value, reason } = promise;
  if (status === 'fulfilled') Object.assign(settled, { status, value: toValue(value) });
  if (status === 'rejected') Object.assign(settled, { status: 'fulfilled', value: toError(reason) });
  if (Object.isExtensible(promise)) promise[SETTLED] = settled;
  else settledFrozen.set(promise, settled);
  return settled;
}

function isPromise<Value>(value: Promise<Value> | Value): value is Promise<Value> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

interface AwaitBoundaryProps {
  readonly value: unknown;
  readonly failed: (error: PageError) => ReactNode;
  readonly children: ReactNode;
}

interface AwaitBoundaryState {
  readonly value?: unknown;
  readonly caught?: { readonly thrown: unknown };
}

/** Shows the value, or what was thrown while it was rendered. The next value is rendered again. */
class AwaitBoundary extends Component<AwaitBoundaryProps, AwaitBoundaryState> {
  override state: AwaitBoundaryState = {};

  static getDerivedStateFromError(thrown: unknown): AwaitBoundaryState {
    return { caught: { thrown } };
  }

  static getDerivedStateFromProps({ value }: AwaitBoundaryProps, state: AwaitBoundaryState): AwaitBoundaryState | null {
    return value === state.value ? null : { value, caught: undefined };
  }

  override render(): ReactNode {
    const { failed, children } = this.props;
    const { caught } = this.state;
    return caught ? <AwaitFailure thrown={caught.thrown} failed={failed} /> : children;
  }
}
