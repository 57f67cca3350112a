import { MAX_ACTION_BYTES } from '../../../shared/engine/limits.ts';
import { Millisecond } from '../../../shared/units.ts';

// The requests of `npm run doctor -- <origin>` to a server, and the answers.

export const DOCTOR_SEEN = '/_doctor/seen';
export const DOCTOR_STREAM = '/_doctor/stream';
/** The same as server-sent events. */
export const DOCTOR_EVENTS = '/_doctor/events';
export const DOCTOR_BODY = '/_doctor/body';

/** Steps of a stream (count), and the pause before each step except the first. */
export const STREAM_STEPS = 4;
export const STREAM_PAUSE = 250 * Millisecond;

/** The largest body that is counted (bytes), which is the limit of a form. */
export const MAX_COUNTED_BYTES = MAX_ACTION_BYTES;

/** A request as the server saw it. */
export interface Seen {
  /** The visitor's address, as in the log. */
  readonly address: string;
  /** The other end of the connection: the nearest proxy, or the visitor. */
  readonly peer: string;
  readonly peerPort: number;
  /** The peer's headers about the visitor are trusted (TRUST_PROXY). */
  readonly isPeerTrusted: boolean;
  /** TRUST_PROXY includes the visitor's own address, so this caller counts as a proxy and can forge headers. */
  readonly isVisitorListed: boolean;
  readonly scheme: 'http' | 'https';
  /** As it was received. */
  readonly host: string | undefined;
  /** The origin that the request is answered under; undefined for a host that is refused with 421. */
  readonly origin: string | undefined;
  /** PUBLIC_ORIGINS lists the accepted hosts. */
  readonly hasOrigins: boolean;
  /** The app has WebSockets. */
  readonly hasSockets: boolean;
  /** Only the names, in lower case: values can be secrets. */
  readonly headers: readonly string[];
}

/** The size of a body that arrived. */
export interface Counted {
  readonly bytes: number;
}
