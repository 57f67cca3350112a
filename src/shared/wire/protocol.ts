/** Names that server and browser share in URLs, headers and forms. */

/** URL prefix of page data, so that no cache confuses it with the document: `/_data/orders?page=2`. */
export const DATA_PREFIX = '/_data';

/**
 * Returns the URL of a page's data.
 *
 * @param url path and search of the page
 * @param base the path prefix of all pages of the app (`/admin`), or empty. Their data is below it too
 *   (`/admin/_data/7K3QM2XA`), so that a proxy rule for the pages also protects their data.
 */
export function toDataUrl(url: string, base = ''): string {
  return base + DATA_PREFIX + url.slice(base.length);
}

/** Header of every page and page-data response: the build that rendered it. */
export const BUILD_HEADER = 'X-Build-Id';

/** Header of a response with a failure: the failure's address. */
export const DIGEST_HEADER = 'X-Error-Digest';

/** Header of every response: the request's id, which the log has too. */
export const REQUEST_ID_HEADER = 'X-Request-Id';

/** Content type of one JSON value per line: page data and background actions (`format.ts`), and lists of an API. */
export const NDJSON_TYPE = 'application/x-ndjson';

/** `Accept` header of a form that is posted in the background: requests data instead of a document. */
export const ACTION_ACCEPT = 'application/vnd.spillway.action+ndjson';

/** The type of a form with files. */
export const MULTIPART = 'multipart/form-data';

/** The form field that names the action: `<route id>.<name>`. */
export const ACTION_FIELD = '_action';

/** Returns the action that a form names. The pressed button's name follows the form's own, and wins. */
export function readAction(form: FormData | undefined): string | undefined {
  const name = form?.getAll(ACTION_FIELD).at(-1);
  return typeof name === 'string' ? name : undefined;
}

/** Id of the `<script type="application/json">` with the payload. Deferred values follow in blocks with `data-late`. */
export const PAYLOAD_ID = 'spillway-payload';
export const DEFERRED_ATTRIBUTE = 'data-late';

/** Header of a retried request: the address of the failure before it, so that both count as one. */
export const RETRY_HEADER = 'X-Retry-Of';

/** URL prefix of hashed, immutable assets. */
export const ASSET_PREFIX = '/assets/';

/** Ids of the engine's routes around the table: the frame and the not-found page. */
export const FRAME_ROUTE = '@frame';
export const NOT_FOUND_ROUTE = '@not-found';

/** Search key of page data that requests the holes of a shell page. Hidden from pages. */
export const HOLES_KEY = '_holes';

/** Header of the response with them, because its lines have no head. */
export const HOLES_HEADER = 'X-Holes';

/** Search key that requests the page in one piece, for visitors without scripts. Hidden from pages. */
export const FULL_PAGE_KEY = '_whole';
