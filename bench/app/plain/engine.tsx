import { type ReactNode, Suspense, use } from 'react';

// Replaces `#engine` for the pages of bare Node and Express. Their links become plain anchors in the build.

/** Set by the build. Plain Express sends deferred values for hydration, bare Node does not. */
declare const SENDS_DATA: boolean;

interface AwaitProps<Value> {
  readonly value: Promise<Value>;
  readonly children: (value: Value) => ReactNode;
}

export function Await<Value>({ fallback, ...rest }: AwaitProps<Value> & { readonly fallback: ReactNode }) {
  return (
    <Suspense fallback={fallback}>
      <Settled {...rest} />
    </Suspense>
  );
}

function Settled<Value>({ value, children }: AwaitProps<Value>) {
  const settled = use(value);
  if (!SENDS_DATA) return children(settled);
  return (
    <>
      {children(settled)}
      <script dangerouslySetInnerHTML={{ __html: `(window.deferred??=[]).push(${toScript(settled)})` }} />
    </>
  );
}

/** JSON that can be part of a script. */
export function toScript(data: unknown): string {
  return JSON.stringify(data).replaceAll('<', '\\u003c');
}
