import { AsyncLocalStorage } from 'node:async_hooks';
import { LATE_ATTRIBUTE } from '../../../shared/engine/wire/protocol.ts';
import { toScriptText } from '../../../shared/engine/wire/wire.ts';

type SinkEvent = 'close' | 'drain' | 'error';

/** Where a page goes: a response, or the memory that a static page is kept in. */
export interface PageTarget {
  write(bytes: Buffer): boolean;
  end(bytes: Buffer): void;
  on(event: SinkEvent, listener: () => void): unknown;
  readonly destroyed: boolean;
  destroy(error?: Error): unknown;
}

export interface PageSinkOptions {
  readonly target: PageTarget;
  /**
   * Written where the head begins: React would put it behind the style sheets, which hold up any
   * script that follows them, and hide from it whether they came.
   */
  readonly lead: string;
  /** Payload and entry script: written once, behind the shell. */
  readonly tail: string;
  readonly late: AsyncIterable<string> | undefined;
  /** Written behind the shell of a page that is not complete with it. */
  readonly whenStreaming?: string;
  /** Called once, when the last byte was handed over or the page was given up. */
  readonly onEnd: () => void;
}

/** What React writes up to its own first tags in the head. The encoding stays within the first bytes, where it is looked for. */
const HEAD = /^.{0,2000}?<head(?:\s[^>]*)?>(?:<meta charSet="[^"]*"\/>)?/s;

const CLOSING = '</body></html>';

/** How much is gathered before it is handed on between two flushes (UTF-16 code units). */
const GATHER = 64 * 1024;

/**
 * The stream that React writes a page into. It gathers what React writes in small pieces, and puts
 * the lines of deferred values between them, but only where React has called `flush()`: anywhere else a script could
 * land in the middle of a tag (TanStack/router#7362). React closes `<body>` when it is done; late
 * values that no component waited for may still come, so the closing tags are held until they have.
 */
export class PageSink {
  readonly #target: PageTarget;
  readonly #whenStreaming: string;
  #onEnd: (() => void) | undefined;
  readonly #decoder = new TextDecoder();
  /** What stands in front of `#text`: kept apart, because strings that are put together are copied when they are read. */
  #front = '';
  #text = '';
  #queued = '';
  #lead: string;
  #tail: string;
  #atBoundary = false;
  /** The target has asked to wait: what React holds back then is no text that waits for a slow reader. */
  #isFull = false;
  #streaming = false;
  #reactEnded = false;
  #lateEnded: boolean;
  #finished = false;
  /** What is late is written by React in a context of its own: see `Render`. */
  readonly #asVisitor = AsyncLocalStorage.snapshot();
  /**
   * React's listeners hold the whole rendered page, and a connection holds its last response: handed
   * on to it, they would keep a page in memory for each visitor who is idle.
   */
  #listeners: (readonly [event: SinkEvent, listener: () => void])[] = [];

  constructor(options: PageSinkOptions) {
    const { target, lead, tail, late } = options;
    this.#target = target;
    this.#whenStreaming = options.whenStreaming ?? '';
    this.#onEnd = options.onEnd;
    this.#lead = lead;
    this.#tail = tail;
    this.#lateEnded = late === undefined;
    if (late) void this.#pump(late);
    target.on('drain', () => {
      this.#isFull = false;
      this.#tell('drain');
    });
    target.on('error', () => this.#tell('error'));
    target.on('close', () => {
      this.#tell('close');
      this.#finish();
    });
  }

  /** Markup for the end of what was sent so far, such as a late `noindex`. */
  inject(markup: string): void {
    this.#queued += markup;
    if (this.#atBoundary) this.#send();
  }

  write(chunk: string | Uint8Array): boolean {
    this.#atBoundary = false;
    // Strings come from the joined build of React, bytes from the plain one.
    this.#text += typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, { stream: true });
    if (this.#finished) return true;
    if (this.#text.length <= GATHER) return !this.#isFull;
    this.#putLead();
    const cut = toCut(this.#text, this.#text.length - CLOSING.length);
    const ready = toBytes([this.#takeFront(), this.#text.slice(0, cut)]);
    this.#text = this.#text.slice(cut);
    this.#isFull = !this.#asVisitor(() => this.#target.write(ready));
    return !this.#isFull;
  }

  flush(): void {
    if (this.#text.endsWith(CLOSING)) return; // the last flush: `end()` follows, and sends it all at once
    this.#atBoundary = true;
    this.#beginStreaming();
    this.#send();
  }

  end(): void {
    this.#reactEnded = true;
    if (this.#lateEnded) {
      this.#close();
      return;
    }
    this.#beginStreaming();
    this.#send();
  }

  destroy(error?: Error): this {
    this.#target.destroy(error);
    this.#finish();
    return this;
  }

  on(event: SinkEvent, listener: () => void): this {
    if (!this.#finished) this.#listeners.push([event, listener]);
    return this;
  }

  #tell(event: SinkEvent): void {
    for (const [heard, listener] of this.#listeners) if (heard === event) listener();
  }

  #beginStreaming(): void {
    if (this.#streaming) return;
    this.#streaming = true;
    this.#tail += this.#whenStreaming;
  }

  async #pump(late: AsyncIterable<string>): Promise<void> {
    for await (const line of late) {
      if (this.#finished) return;
      this.inject(`<script type="application/json" ${LATE_ATTRIBUTE}>${toScriptText(line)}</script>`);
    }
    this.#lateEnded = true;
    if (this.#reactEnded) this.#close();
  }

  #send(): void {
    const bytes = this.#takeBytes('');
    if (bytes.length === 0 || this.#finished) return;
    this.#asVisitor(() => {
      this.#isFull = !this.#target.write(bytes);
    });
  }

  #close(): void {
    if (this.#finished) return;
    const rest = this.#takeBytes(CLOSING);
    this.#asVisitor(() => this.#target.end(rest));
    this.#finish();
  }

  #putLead(): void {
    if (this.#lead === '') return;
    const end = HEAD.exec(this.#text)?.[0].length;
    if (end === undefined) return;
    this.#front = this.#text.slice(0, end) + this.#lead;
    this.#text = this.#text.slice(end);
    this.#lead = '';
  }

  #takeFront(): string {
    const front = this.#front;
    this.#front = '';
    return front;
  }

  /** All that there is to send by now. */
  #takeBytes(closing: string): Buffer {
    this.#putLead();
    let text = this.#text;
    if (this.#reactEnded) {
      this.#atBoundary = true;
      if (text.endsWith(CLOSING)) text = text.slice(0, -CLOSING.length);
    }
    const bytes = toBytes([this.#takeFront(), text, this.#tail, this.#queued, closing]);
    this.#text = '';
    this.#tail = '';
    this.#queued = '';
    return bytes;
  }

  #finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#onEnd?.();
    this.#onEnd = undefined;
    this.#listeners = [];
    this.#text = '';
  }
}

/**
 * Encoded here, at once: a socket that is handed a header and a string encodes them several times
 * slower. And one by one: put together, all of them would take two bytes for each character as soon
 * as one is beyond Latin-1.
 */
function toBytes(texts: readonly string[]): Buffer {
  let length = 0;
  for (const text of texts) length += Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const text of texts) at += bytes.write(text, at);
  return bytes;
}

/** A place to cut a text at or just before `at`, where no character is cut in two: halves are encoded as U+FFFD. */
function toCut(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff ? at - 1 : at;
}
