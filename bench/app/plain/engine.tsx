import { type ComponentType, type ReactNode, Suspense, use } from 'react';

// Replaces `#engine` for the pages of bare Node and Express.

/** Set by the build. Plain Express sends deferred values for hydration, bare Node does not. */
declare const SENDS_DATA: boolean;

/** A plain element, so that these sides do not pay for a component. */
export const Link = 'a' as unknown as ComponentType;
export const NavLink = Link;
export const operation = <Options,>(options: Options) => options;

interface AwaitProps<Value> {
  readonly value: Promise<Value>;
  readonly children: (value: Value) => ReactNode;
  readonly fallback?: ReactNode;
}

export function Await<Value>({ fallback, ...rest }: AwaitProps<Value>) {
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
