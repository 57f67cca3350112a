import { AsyncResource } from 'node:async_hooks';
import { DEFERRED_ATTRIBUTE } from '../../../shared/wire/protocol.ts';
import { toScriptText } from '../../errors/escape-html.ts';

type SinkEvent = 'close' | 'drain' | 'error';

/** The destination of a page: a response, or the memory of a static page. */
export interface PageTarget {
  write(bytes: Buffer): boolean;
  end(bytes: Buffer): void;
  on(event: SinkEvent, listener: () => void): unknown;
  readonly destroyed: boolean;
  destroy(error?: Error): unknown;
}

/** What is written around React's markup. */
export interface PageTexts {
  /**
   * Written at the start of the head. React would put it after the style sheets. These delay scripts that follow them,
   * and then the script could not see whether they loaded.
   */
  readonly lead: string;
  /** Payload and entry script, written once after the shell. In pieces, because a joined string is copied. */
  readonly tail: readonly string[];
  readonly deferred: AsyncIterable<string> | undefined;
  /** The page's shell was sent already, so React writes only parts. */
  readonly isResumed?: boolean;
  /** Written after `lead` if more follows the shell. */
  readonly whenStreaming?: string;
}

interface PageSinkOptions {
  /** The style sheets of the shell, written after `lead`. */
  readonly styles?: string;
  /** Returns markup to write before the next part of the page. */
  readonly takeStyles?: () => string;
  /** Called once, when the last byte was handed over or the page was abandoned. */
  readonly onEnd?: () => void;
  /** Called in place of `onEnd` with what the target threw. It is left open. */
  readonly onFailed?: (thrown: unknown) => void;
}

/**
 * The start of a page, up to React's first tags in the head. The charset stays in the first bytes, where browsers look
 * for it.
 */
export const HEAD = /^.{0,2000}?<head(?:\s[^>]*)?>(?:<meta charSet="[^"]*"\/>)?/s;

/** How React ends a page. */
export const CLOSING = '</body></html>';

/** How much text is collected between two flushes before it is written (UTF-16 code units). */
const GATHER = 64 * 1024;

/**
 * The stream that React writes a page into. It collects React's small writes, and adds the lines of deferred values
 * where React has called `flush()`. Anywhere else, a script could split a tag (TanStack/router#7362). React closes
 * `<body>` when it is done, but deferred values that no component waited for can still arrive. So the closing tags wait
 * for them.
 */
export class PageSink {
  readonly #target: PageTarget;
  #whenStreaming: string;
  #onEnd: (() => void) | undefined;
  readonly #onFailed: ((thrown: unknown) => void) | undefined;
  /** Only the plain build of React needs it. */
  #decoder: TextDecoder | undefined;
  /** The text before `#text`. Separate, because joined strings are copied when they are read. */
  #front = '';
  #text = '';
  #queued = '';
  readonly #lead: string;
  readonly #takeStyles: (() => string) | undefined;
  #hasLead = false;
  #tail: string[];
  #atBoundary: boolean;
  #willSend = false;
  /** The target has asked to wait. */
  #isFull = false;
  #streaming = false;
  #reactEnded = false;
  #deferredEnded: boolean;
  #finished = false;
  /** React writes deferred content in its own async context: see `Render`. `snapshot()` takes ten times as long. */
  readonly #visitor = new AsyncResource('PageSink');
  /**
   * React's listeners hold the whole rendered page, and a connection holds its last response. If they were added to the
   * response, they would keep a page in memory for each idle visitor.
   */
  #listeners: (readonly [event: SinkEvent, listener: () => void])[] = [];

  constructor(
    target: PageTarget,
    texts: PageTexts,
    { styles = '', takeStyles, onEnd, onFailed }: PageSinkOptions = {},
  ) {
    const { lead, tail, deferred } = texts;
    this.#target = target;
    this.#whenStreaming = texts.whenStreaming ?? '';
    this.#onEnd = onEnd;
    this.#onFailed = onFailed;
    this.#lead = lead + styles;
    this.#takeStyles = takeStyles;
    this.#atBoundary = texts.isResumed ?? false;
    this.#tail = [...tail];
    this.#deferredEnded = deferred === undefined;
    if (deferred) void this.#pump(deferred);
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

  /** Adds markup after what was sent so far, such as `noindex`. */
  inject(markup: string): void {
    this.#queued += markup;
    if (this.#atBoundary) this.#sendSoon();
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.#atBoundary) this.#text += this.#takeStyles?.() ?? '';
    this.#atBoundary = false;
    // The joined build of React writes strings, the plain one bytes.
    this.#text += typeof chunk === 'string' ? chunk : this.#decode(chunk);
    if (this.#finished) return true;
    if (this.#text.length <= GATHER) return !this.#isFull;
    this.#putLead();
    const cut = toCut(this.#text, this.#text.length - CLOSING.length);
    const ready = toBytes([this.#takeFront(), this.#text.slice(0, cut)]);
    this.#text = this.#text.slice(cut);
    this.#put(ready);
    return !this.#isFull;
  }

  #decode(chunk: Uint8Array): string {
    this.#decoder ??= new TextDecoder();
    return this.#decoder.decode(chunk, { stream: true });
  }

  flush(): void {
    if (this.#text.endsWith(CLOSING)) return; // the last flush: `end()` follows and sends everything
    this.#atBoundary = true;
    this.#beginStreaming();
    this.#send();
  }

  end(): void {
    this.#reactEnded = true;
    if (this.#deferredEnded) {
      this.#close();
      return;
    }
    this.#beginStreaming();
    this.#atBoundary = true;
    this.#sendSoon(); // the value that React has rendered last has its line in this turn
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
    this.#streaming = true;
    // The head of a large page has been sent already. Browsers also accept it in the body.
    if (this.#hasLead) this.#tail.push(this.#takeWhenStreaming());
  }

  #takeWhenStreaming(): string {
    const markup = this.#whenStreaming;
    this.#whenStreaming = '';
    return markup;
  }

  async #pump(deferred: AsyncIterable<string>): Promise<void> {
    for await (const line of deferred) {
      if (this.#finished) return;
      this.inject(`<script type="application/json" ${DEFERRED_ATTRIBUTE}>${toScriptText(line)}</script>`);
    }
    this.#deferredEnded = true;
    if (this.#reactEnded) this.#close();
  }

  /** When a deferred value settles, React writes its content in an immediate of this turn. One write takes both. */
  #sendSoon(): void {
    if (this.#willSend) return;
    this.#willSend = true;
    setImmediate(() => {
      this.#willSend = false;
      if (this.#atBoundary) this.#send();
    });
  }

  #send(): void {
    const bytes = this.#takeBytes('');
    if (bytes.length > 0 && !this.#finished) this.#put(bytes);
  }

  #put(bytes: Buffer): void {
    this.#attempt(() => {
      this.#isFull = !this.#target.write(bytes);
    });
  }

  #close(): void {
    if (this.#finished) return;
    const rest = this.#takeBytes(CLOSING);
    this.#attempt(() => this.#target.end(rest));
    this.#finish();
  }

  /** Runs steps of the product too: they can replace `writeHead()`. Here, what one throws would end the process. */
  #attempt(write: () => void): void {
    try {
      this.#visitor.runInAsyncScope(write);
    } catch (error) {
      this.#onEnd = () => this.#onFailed?.(error);
      this.#finish();
    }
  }

  #putLead(): void {
    if (this.#hasLead || this.#text === '') return;
    this.#hasLead = true;
    const lead = this.#lead + (this.#streaming || !this.#deferredEnded ? this.#takeWhenStreaming() : '');
    const [head] = HEAD.exec(this.#text) ?? [];
    if (head === undefined) {
      // A late script is better than none.
      this.#tail.unshift(lead);
    } else {
      this.#front = head + lead;
      this.#text = this.#text.slice(head.length);
    }
  }

  #takeFront(): string {
    const front = this.#front;
    this.#front = '';
    return front;
  }

  /** Everything that can be sent now. */
  #takeBytes(closing: string): Buffer {
    this.#putLead();
    let text = this.#text;
    if (this.#reactEnded) {
      this.#atBoundary = true;
      if (text.endsWith(CLOSING)) text = text.slice(0, -CLOSING.length);
    }
    const bytes = toBytes([this.#takeFront(), text, ...this.#tail, this.#queued, closing]);
    this.#text = '';
    this.#tail = [];
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
 * Encodes the texts here, because a socket that gets a header and a string encodes them several times slower. One by
 * one, because a joined string takes two bytes for each character as soon as one is beyond Latin-1.
 */
function toBytes(texts: readonly string[]): Buffer {
  let length = 0;
  for (const text of texts) length += Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const text of texts) at += bytes.write(text, at);
  return bytes;
}

/** Returns a position at or before `at` that does not split a character. Halves would be encoded as U+FFFD. */
function toCut(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff ? at - 1 : at;
}
