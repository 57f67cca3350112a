// Everything that pages import, as `#engine`. The build resolves each name to its own file, so that a page loads only
// what it uses. Within the engine, import the files directly.

export { ApiError, type Client, createClient } from './api/client.ts';
export { operation, type Sent } from './api/operation.ts';
export { type ActionData, type ActionName, createActionUses } from './rendering/actions.tsx';
export { Await } from './rendering/await.tsx';
export type { ErrorPageProps, ErrorPages } from './rendering/engine-context.ts';
export { ErrorDigest, ErrorView } from './rendering/error-view.tsx';
export { useData, useHost, useNonce, usePageError, useRefresh, useSearch, useServerStyles } from './rendering/hooks.ts';
export type { DocumentProps, EngineText, Language } from './rendering/language.ts';
export { useUploadProgress } from './rendering/upload-progress.ts';
export type { ReportOptions } from './reporting/browser-report.ts';
export { report } from './reporting/report.ts';
export { forbidden, notFound, publicError, redirect, unauthorized } from './routing/control-flow.ts';
export { createHref } from './routing/href.ts';
export { Link, NavLink } from './routing/link.tsx';
export type { PageProps } from './routing/page-props.ts';
export { defineRoutes, type RouteDefinition, type RouteIdOf } from './routing/routes.ts';
export type { ActionResult, PageError } from './wire/payload.ts';
export { readAction } from './wire/protocol.ts';
