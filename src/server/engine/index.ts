// What the server's side of a product imports, as `#engine/server`. Within the engine, import the file that a name
// comes from.

export { addBreadcrumb } from './errors/breadcrumb.ts';
export { HttpError, notFoundHere } from './errors/http-error.ts';
export { PROBLEM_TYPE } from './errors/problem.ts';
export type { ApiOrigins } from './http/api-origins.ts';
export { formBody, jsonBody } from './http/body-limits.ts';
export type { ContentSources } from './http/content-policy.ts';
export type { ExistingApp } from './http/existing-app.ts';
export { openApi } from './http/openapi.ts';
export { operation } from './http/operation.ts';
export { requestInfo } from './http/request-info.ts';
export { type Resource, resource } from './http/resource.ts';
export type { Upgrades } from './http/upgrades.ts';
export { formAction } from './pages/form-action.ts';
export { oncePerVisit } from './pages/once-per-visit.ts';
export {
  type ActionArgs,
  conflict,
  invalid,
  type LoaderArgs,
  type ServerPage,
  type ServerPages,
} from './pages/server-page.ts';
export {
  type ContextParts,
  defineProduct,
  defineSettings,
  type ProductContext,
  type ProductParts,
  type ProductReporting,
  type SettingsOf,
} from './product.ts';
export { parsed, toggle } from './settings.ts';
