/** Names that both halves put on the wire. */

/** Page data lives under this prefix, so that no cache can take it for the document: `/_data/orders?page=2`. */
export const DATA_PREFIX = '/_data';

/**
 * Returns where the data of a page is.
 *
 * @param url path and search of the page
 * @param base the path that all pages of its app share (`/desk`), empty for none. Their data is below
 *   it too (`/desk/_data/7K3QM2XA`), so that a gate in front of the pages also protects their data.
 */
export function toDataUrl(url: string, base = ''): string {
  return base + DATA_PREFIX + url.slice(base.length);
}

/** On every page and page-data response: the build that made it. */
export const BUILD_HEADER = 'X-Build-Id';

/** On what tells of a failure: its address. */
export const DIGEST_HEADER = 'X-Error-Digest';

/** What page data and background actions answer with: one JSON value a line, see `wire.ts`. */
export const WIRE_TYPE = 'application/x-ndjson';

/** `Accept` of a form that is posted in the background: data is wanted, not a document. */
export const ACTION_ACCEPT = 'application/vnd.spillway.action+ndjson';

/** The form field that names the action: `<route id>.<name>`. */
export const ACTION_FIELD = '_action';

/** The action that a form names. That of the button which was pressed stands behind the form's own. */
export function readAction(form: FormData): string | undefined {
  const name = form.getAll(ACTION_FIELD).at(-1);
  return typeof name === 'string' ? name : undefined;
}

/** The `<script type="application/json">` with the page's payload; late values follow in blocks with `data-late`. */
export const PAYLOAD_ID = 'spillway-payload';
export const LATE_ATTRIBUTE = 'data-late';

/** Names the failure (by its address) after which a request is made again, so that it counts once. */
export const RETRY_HEADER = 'X-Retry-Of';

/** The URL under which hashed assets are served, immutable. */
export const ASSET_PREFIX = '/assets/';

/** Ids of the routes that the engine puts around the table: the frame, and the page for what is not found. */
export const FRAME_ROUTE = '@frame';
export const NOT_FOUND_ROUTE = '@not-found';

/** In a page's search: send it whole, for a visitor without scripts. Pages do not see it. */
export const WHOLE_KEY = '_whole';
