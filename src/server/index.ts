// The server-side API for a product, imported as `#engine/server`. Within the engine, import the file that defines a
// name.

export { PROBLEM_TYPE } from '../shared/api/problem.ts';
export { type ApiStore, createMemoryStore, createPostgresStore } from './api/api-store.ts';
export { type Auth, bearer, type Caller, session } from './api/auth.ts';
export { formBody, jsonBody } from './api/body-parsers.ts';
export { type ApiPart, implement } from './api/implement.ts';
export { localClient } from './api/local-client.ts';
export type { ApiParts } from './api/mount-api.ts';
export type { DocumentFacts } from './api/openapi.ts';
export { resource } from './api/resource.ts';
export {
  type ContextParts,
  defineProduct,
  defineSettings,
  type ProductContext,
  type ProductParts,
  type ProductReporting,
  type ServiceTools,
  type SettingsOf,
} from './define-product.ts';
export type { ServerReportOptions } from './errors/create-failure.ts';
export { addBreadcrumb, report, setTags } from './errors/report.ts';
export type { ApiOrigins } from './front/api-origins.ts';
export type { ContentSources } from './front/content-policy.ts';
export type { ExistingApp } from './front/existing-app.ts';
export type { Upgrades } from './front/upgrades.ts';
export { createMailer } from './mail/mailer.ts';
export type { Mail, SendMail } from './mail/send-mail.ts';
export { formAction } from './pages/actions/form-schema.ts';
export { oncePerRequest } from './pages/once-per-request.ts';
export { personal } from './pages/personal.ts';
export { revalidate } from './pages/revalidate.ts';
export {
  type ActionArgs,
  conflict,
  createDefinePage,
  invalid,
  type LoaderArgs,
  type ServerPage,
  type ServerPages,
} from './pages/server-page.ts';
export { toSender } from './request/client-address.ts';
export { HttpError, notFoundHere } from './request/http-error.ts';
export { isBelow } from './request/paths.ts';
export { requestInfo } from './request/request-info.ts';
export { ConfigError, parsed, toggle } from './settings.ts';
