// What pages import, as `#engine`. The build takes each name from the file that it comes from, so that a page brings
// no more than it uses. Within the engine, import that file.

export { type ActionData, type ActionName, createActionUses } from './actions.ts';
export { Await } from './await.tsx';
export type { DocumentProps } from './document.ts';
export type { ErrorPageProps, ErrorPages } from './engine-context.ts';
export { FailureHelp } from './failure-help.tsx';
export { useData, useHost, useNonce, usePageError, useRefresh } from './hooks.ts';
export { createHref } from './href.ts';
export { Link, NavLink } from './link.tsx';
export { forbidden, notFound, publicError, redirect, unauthorized } from './outcome.ts';
export type { ActionOutcome, PageError } from './payload.ts';
export { readAction } from './protocol.ts';
export { defineRoutes, type PageProps, type RouteDefinition, type RouteIdOf } from './routes.ts';
