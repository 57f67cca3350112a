import { MAX_ACTION_BYTES } from '../../../shared/engine/limits.ts';
import { Millisecond } from '../../../shared/units.ts';

// What `npm run doctor -- <origin>` asks of a server, and what it is answered.

export const DOCTOR_SEEN = '/_doctor/seen';
export const DOCTOR_STREAM = '/_doctor/stream';
/** The same as server-sent events. */
export const DOCTOR_EVENTS = '/_doctor/events';
export const DOCTOR_BODY = '/_doctor/body';

/** Steps that a stream is sent in (a count), and how long it waits before each but the first. */
export const STREAM_STEPS = 4;
export const STREAM_PAUSE = 250 * Millisecond;

/** The largest body that is counted (bytes): as many as a form may have. */
export const MAX_COUNTED_BYTES = MAX_ACTION_BYTES;

/** A request as the server saw it. */
export interface Seen {
  /** The visitor's address, as it would stand in the log. */
  readonly address: string;
  /** Who is at the other end of the connection: the nearest proxy, or the visitor. */
  readonly peer: string;
  readonly peerPort: number;
  /** Whether what the peer says of the visitor counts (TRUST_PROXY). */
  readonly isPeerTrusted: boolean;
  /** Whether TRUST_PROXY names the visitor's own address: who asks stands among the proxies, and may forge. */
  readonly isVisitorListed: boolean;
  readonly scheme: 'http' | 'https';
  /** As it came. */
  readonly host: string | undefined;
  /** What the request is answered under; undefined for a host that is refused with 421. */
  readonly origin: string | undefined;
  /** Whether PUBLIC_ORIGINS says which hosts there are. */
  readonly hasOrigins: boolean;
  /** Whether the app has WebSockets. */
  readonly hasSockets: boolean;
  /** Names alone, in lower case: values may be secrets. */
  readonly headers: readonly string[];
}

/** A body that came. */
export interface Counted {
  readonly bytes: number;
}
