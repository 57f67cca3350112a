import type { Path } from '../../shared/wire/format.ts';
import type { PagePayload } from '../../shared/wire/payload.ts';
import type { Coding } from '../request/request-headers.ts';
import type { Loaded } from './load-page.ts';
import type { CachedPage } from './page-cache.ts';
import type { PersonalValue } from './personal.ts';

interface CachedBytes {
  readonly bytes: Buffer;
  readonly etag: string;
}

export interface CodedBytes extends CachedBytes {
  readonly coding: Coding;
}

/** A body with everything for its responses. */
export interface CachedBody extends CachedBytes {
  readonly type: string;
  /** Compressed copies. Absent if nothing is compressed. */
  readonly coded?: readonly CodedBytes[];
}

/** A static page in memory, with everything for its responses. */
export interface CachedStaticPage extends CachedPage {
  /** The pattern of its route, for logs. */
  readonly route: string;
  /** Its copies have a strong tag each, of their bytes (RFC 9110, section 8.8.3.3). */
  readonly document: CachedBody;
  /** The page's data in the wire format. */
  readonly data: CachedBody;
  readonly failed?: NonNullable<CachedPage['failed']> & {
    readonly status: number;
    readonly digest: string | undefined;
  };
}

/** The place of a personal value in the data of a page. */
export interface Hole {
  /** The name that browser and server give it. */
  readonly id: string;
  readonly path: Path;
  /** The same one can be in several places. */
  readonly value: PersonalValue;
}

/** A page with `mode: 'shell'` in memory, with what each visitor's response needs. */
export interface CachedShell extends CachedPage {
  /** The data for everyone, with holes, or what the page answers everyone instead, such as a redirect. */
  readonly loaded: Loaded;
  readonly holes: readonly Hole[];
  /** Visitors must not see anything of it before their guards have passed. */
  readonly hasGuards: boolean;
  /** Absent if the page failed. */
  readonly page?: ShellPage;
}

export interface ShellMarks {
  readonly nonce: string;
  readonly trace: string;
}

export interface ShellPage {
  readonly payload: PagePayload;
  /** The data for everyone in the wire format, and its tag. */
  readonly data: string;
  readonly etag: string;
  /**
   * The document without its end. Only texts contain marks. Absent if the page waits for a hole outside of every
   * `<Await>`: then it is rendered for each request.
   */
  readonly parts?: readonly (string | Buffer)[];
  /** Random texts in place of what each request has its own of. */
  readonly marks: ShellMarks;
  /** React's state (JSON). Undefined if no hole is rendered. */
  readonly postponed: string | undefined;
}
