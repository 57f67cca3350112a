// What an error tracker imports, as `#engine/tracker`, besides `#engine` and `#engine/server`. It is for Spillway’s own
// trackers: it can change with every version. The build resolves each name to its own file.

export { toRetryAfterMs } from '../shared/fetch-with-retry.ts';
export { LINE_END, TABLE_FILE } from '../shared/location-format.mjs';
export { explainReactError } from '../shared/rendering/react-errors.ts';
export { type Address, parseAddress, toAddress, toOccurrence } from '../shared/reporting/address.ts';
export { MAX_BREADCRUMBS } from '../shared/shared-limits.ts';
export { isProductCode } from '../shared/whose-code.mjs';
export { toAppManifest } from '../shared/wire/manifest.ts';
export { DOCUMENT_PATH, mountApi, REFERENCE_PATH } from './api/mount-api.ts';
export { apiNotFound, unclaimedMethods } from './api/resource.ts';
export { type Config, SETTINGS } from './config.ts';
export { toHttpUrl } from './connection/listen-on.ts';
export { createDigest } from './errors/digest/create-digest.ts';
export {
  emptyLocationTable,
  isSource,
  type LocationTable,
  parseLocationTable,
} from './errors/digest/location-table.ts';
export { toSourcePath } from './errors/digest/read-error.ts';
export { errorHandler } from './errors/error-handler.ts';
export type {
  BodyField,
  Failure,
  FailureOrigin,
  FrameLocation,
  RequestRecord,
  StackFrame,
  Visitor,
} from './errors/failure.ts';
export type { Funnel } from './errors/funnel.ts';
export { API_POLICY, refuse } from './errors/problem.ts';
export { cutTitle } from './errors/trim.ts';
export type { CheckToken } from './front/check-token.ts';
export { createContentPolicy } from './front/content-policy.ts';
export { isOfThisSite } from './front/cross-site.ts';
export { type InFlightRequest, readInFlight } from './front/in-flight.ts';
export { privateReplies } from './front/security-headers.ts';
export {
  createTokens,
  isSameText,
  listTokens,
  type Operator,
  type OperatorToken,
  readKeptToken,
  type Tokens,
} from './front/tokens.ts';
export { ECHO_AGE, TARGET_TIME } from './limits.ts';
export { loadSendMail, MAIL_ADDRESS, parseUrl } from './mail/mailer.ts';
export type { MailServer } from './mail/send-mail.ts';
export { createPages } from './pages/page-handlers.ts';
export type { ActingPage, LoaderContext, LoadingPage, Refusal } from './pages/server-page.ts';
export { BoundedMap } from './request/bounded-map.ts';
export { isFromProxy, type ProxyTrust } from './request/client-address.ts';
export type { Count, CounterTable } from './request/counters.ts';
export { type Origins, parseOrigins } from './request/origins.ts';
export { readBearer, removeHeader, takeCookies } from './request/request-headers.ts';
export type { Breadcrumb } from './request/request-info.ts';
export { recordPatterns } from './request/route-patterns.ts';
export { isRead, onClose, type Step } from './request/step.ts';
export { untilBuilt } from './request/unfinished-build.ts';
export {
  type Environment,
  readSettings,
  type SettingsTable,
  type SettingsValues,
  whole,
} from './settings.ts';
export { StartError } from './start-error.ts';
export type { OpenedTracker, Tracker, TrackerHost } from './tracker/tracker.ts';
