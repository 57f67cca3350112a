import type { Failure } from '../../engine/errors/failure.ts';
import type { Count } from '../../engine/monitoring/count.ts';
import type { LogPosition } from '../../segmented-log.ts';
import type { DeskLog } from '../desk-log.ts';
import { clearTaken } from '../ingest/clear-lines.ts';
import { removeJournal } from '../ingest/journal.ts';
import type { JournalEntry } from '../ingest/journal-entry.ts';
import {
  BATCH_BYTES,
  BATCH_TIME,
  EXTRAS_PAUSE,
  GATHER_TIME,
  MAX_BATCH_TRIES,
  RETRY_FIRST,
  RETRY_LONGEST,
} from '../limits.ts';
import type { Intake } from '../store/ingest/tally.ts';
import { createSlots } from '../store/slots.ts';
import { QueryFailedError, StoreAwayError } from '../store/sql.ts';
import type { DeadLetter, DeadLetters } from './dead-letters.ts';
import { dropSegments, type JournalPiece, readJournal } from './read-journal.ts';
import type { Signals } from './signals.ts';
import { type PreparedEntry, type RefusedEntry, sortOut } from './sort-out.ts';
import type { StoreHolder } from './store-holder.ts';

interface WriterOptions {
  readonly run: string;
  readonly folder: string;
  readonly signals: Pick<Signals, 'clearDirty' | 'position' | 'journaled' | 'addSettled' | 'settleTo'>;
  readonly holder: Pick<StoreHolder, 'use'>;
  /** Prepares entries for the store, in their order. Applies source maps and adds missing digests. */
  readonly prepare: (entries: readonly JournalEntry[]) => Promise<Intake[]>;
  readonly deadLetters: DeadLetters;
  /** Called after each stored batch. */
  readonly onTaken?: () => void;
  /** The first wait before the store is tried again (ms). */
  readonly retryFirst?: number;
  readonly count: Count;
  readonly log: DeskLog;
}

/** Writes journals to the store. */
export function createWriter(options: WriterOptions) {
  const { run, folder, signals, holder, prepare, deadLetters, onTaken, retryFirst = RETRY_FIRST, count, log } = options;
  const slots = createSlots({ count: 1 });
  let timer: NodeJS.Timeout | undefined;
  let wait = retryFirst;
  let isStopped = false;
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  /** When the store is tried again after it refused the journal or was unavailable (ms, monotonic). */
  let blockedUntil = Number.NEGATIVE_INFINITY;
  let isRefusalLogged = false;
  /** Whether the journal has more than can be stored while a call waits. */
  let isBehind = false;
  let batchBytes = BATCH_BYTES.least;
  let nextMove = Promise.withResolvers<void>();
  /** By journal. */
  const refused = new Map<string, Refused>();
  /** Until when batches are stored without extras, because the store refused them (ms, monotonic). */
  let extrasAt = Number.NEGATIVE_INFINITY;
  let areExtrasLogged = false;

  function schedule(delay: number): void {
    if (timer || isStopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      attempt().catch(() => undefined);
    }, delay);
  }

  /** Stores the journal. Calls during an attempt share one more attempt, for entries that were appended since. */
  function attempt(): Promise<void> {
    if (!running) {
      running = moveOwn().finally(() => {
        running = undefined;
      });
      return running;
    }
    queued ??= running
      .catch(() => undefined)
      .then(() => {
        queued = undefined;
        return attempt();
      });
    return queued;
  }

  async function moveOwn(): Promise<void> {
    if (isStopped) throw new StoreAwayError('The desk is being closed.');
    // Cleared first, so that later entries wake the worker again.
    signals.clearDirty();
    const { journaled } = signals;
    try {
      await moveAll({ run, folder, environment: undefined, live: true });
      signals.settleTo(journaled);
      noteMoved();
    } catch (error) {
      noteBlocked(error);
      throw error;
    }
  }

  function noteMoved(): void {
    if (isRefusalLogged) log.info({}, 'The store accepts the journal again.');
    isRefusalLogged = false;
    blockedUntil = Number.NEGATIVE_INFINITY;
    isBehind = false;
    wait = retryFirst;
    nextMove.resolve();
    nextMove = Promise.withResolvers();
  }

  /** Schedules another attempt, at growing intervals. The entries stay in the journal. */
  function noteBlocked(error: unknown): void {
    // An unavailable store is already logged.
    if (!(error instanceof StoreAwayError)) noteRefusal(error);
    blockedUntil = performance.now() + wait;
    schedule(wait);
    wait = Math.min(wait * 2, RETRY_LONGEST);
  }

  function noteRefusal(error: unknown): void {
    count('spillway_journal_refused_total', { outcome: 'retried' });
    batchBytes = BATCH_BYTES.least;
    if (isRefusalLogged) return;
    isRefusalLogged = true;
    log.error(
      { err: error },
      'The store refused entries of the journal. They stay there, and Spillway tries again at growing intervals. Everything else continues.',
    );
  }

  /** Stores a journal piece by piece, so that several journals alternate and messages are handled in between. */
  async function moveAll(journal: Source): Promise<void> {
    let from: LogPosition | undefined;
    for (;;) {
      const next = await slots.use(() => moveNext(journal, from));
      if (!next) return;
      from = next;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** @returns the position after the stored piece, or undefined at the end of the journal */
  async function moveNext(journal: Source, known: LogPosition | undefined): Promise<LogPosition | undefined> {
    // Reads the position, because it is unknown whether a broken connection stored the last batch.
    const from = known ?? (await holder.use((store) => store.readPosition(journal.run)));
    if (!known && journal.live) signals.position = from;
    const piece = readJournal({ ...journal, from, maxBytes: batchBytes });
    if (!piece) return undefined;
    const began = performance.now();
    await store({ ...journal, start: from, next: piece.next }, piece);
    const isShared = await holder.use(async (store) => store.isShared);
    const wanted = isShared ? BATCH_TIME.shared : BATCH_TIME.alone;
    batchBytes = toBatchBytes(batchBytes, (performance.now() - began) / wanted);
    dropSegments(journal.folder, piece.next);
    // A salt must not outlive its day on the disk of a process that has few failures.
    if (piece.entries.some(isSalt)) clearTaken(journal.folder, piece.next, isSalt);
    if (journal.live) {
      signals.addSettled(piece.entries.reduce((sum, entry) => sum + countFailures(entry), 0));
      signals.position = piece.next;
      nextMove.resolve();
      nextMove = Promise.withResolvers();
    }
    return piece.next;
  }

  async function store(from: BatchSource, { entries, skipped }: JournalPiece): Promise<void> {
    if (skipped > 0) {
      log.warn({ run: from.run, lines: skipped }, 'A journal has incomplete lines, which were skipped.');
    }
    const { batch, broken } = await prepareEach(entries);
    giveUp(broken, from);
    const error = await tryStore(batch, from);
    if (error) await storeAccepted(batch, from, error);
    refused.delete(from.run);
    onTaken?.();
  }

  /** Prepares entries. If that fails, prepares them one by one, so that a broken one does not block the others. */
  async function prepareEach(entries: readonly JournalEntry[]) {
    try {
      const intakes = await prepare(entries);
      return { batch: entries.flatMap((entry, index) => toPrepared(entry, intakes[index])), broken: [] };
    } catch (error) {
      if (error instanceof StoreAwayError || error instanceof QueryFailedError) throw error;
    }
    const batch: PreparedEntry[] = [];
    const broken: DeadLetter[] = [];
    for (const entry of entries) {
      try {
        const [intake] = await prepare([entry]);
        batch.push(...toPrepared(entry, intake));
      } catch (error) {
        const failed = toQueryFailure(error);
        broken.push({ at: Date.now(), reason: failed.message, entry });
      }
    }
    return { batch, broken };
  }

  /** Stores a batch, if necessary without its extras. @returns the reason if the store refuses even that */
  async function tryStore(
    batch: readonly PreparedEntry[],
    { run: of, next, environment }: BatchSource,
  ): Promise<QueryFailedError | undefined> {
    const stored = { entries: batch.map(({ intake }) => intake), from: { run: of, next }, environment };
    const put = (withoutExtras: boolean) =>
      refusalOf(holder.use((store) => store.ingest({ ...stored, withoutExtras })));
    const isWhole = performance.now() >= extrasAt;
    const error = isWhole ? await put(false) : undefined;
    if (isWhole && !error) {
      areExtrasLogged = false;
      return undefined;
    }
    if (error?.reason === 'busy') return error;
    const bare = await put(true);
    if (!bare && error) noteExtras(error);
    return bare;
  }

  /** Logs refused extras, and stores the next batches without them, so that they do not wait in vain. */
  function noteExtras(error: QueryFailedError): void {
    count('spillway_journal_refused_total', { outcome: 'without_extras' });
    if (error.reason !== 'value') extrasAt = performance.now() + EXTRAS_PAUSE;
    if (areExtrasLogged) return;
    areExtrasLogged = true;
    log.error(
      { err: error },
      'The store refused search text, number of visitors or notifications, so failures are stored without them.',
    );
  }

  /**
   * Stores a batch without the entries that the store never accepts, and after some tries without those that it
   * keeps refusing while it accepts others.
   *
   * @throws QueryFailedError if the whole batch must stay in the journal
   */
  async function storeAccepted(
    batch: readonly PreparedEntry[],
    from: BatchSource,
    error: QueryFailedError,
  ): Promise<void> {
    const tries = refusedOf(from).tries + 1;
    refused.set(from.run, { ...refusedOf(from), tries });
    const isPatient = tries < MAX_BATCH_TRIES;
    if (isPatient && error.reason !== 'value') throw error;
    // If the store refuses even a test failure, the entries are not at fault.
    const { environment } = from;
    const tryOut = (entries: readonly Intake[]) =>
      refusalOf(holder.use((store) => store.tryIngest({ entries, environment })));
    const general = await tryOut([toProbe()]);
    if (general) throw general;
    const gone = await sortOut(batch, tryOut);
    const maybeLater = isPatient ? gone.find((one) => one.error.reason !== 'value') : undefined;
    if (maybeLater) throw maybeLater.error;
    giveUp(gone.map(toDeadLetter), from);
    const lost = new Set(gone.map(({ entry }) => entry));
    const accepted = batch.filter(({ entry }) => !lost.has(entry));
    const again = await tryStore(accepted, from);
    if (again) throw again;
  }

  function refusedOf({ run: of, start }: BatchSource): Refused {
    const known = refused.get(of);
    const isSame = known?.start.segment === start.segment && known.start.offset === start.offset;
    return known && isSame ? known : { start, tries: 0, letters: new Set() };
  }

  /**
   * Moves entries to the dead letters before the rest of the batch is stored, so that nothing is lost. If that
   * fails, the batch is tried again, and entries that were already moved are skipped.
   */
  function giveUp(letters: readonly DeadLetter[], from: BatchSource): void {
    const known = refusedOf(from);
    const fresh = letters.filter(({ entry }) => !known.letters.has(JSON.stringify(entry)));
    deadLetters.add(fresh, from.environment);
    const all = [...known.letters, ...fresh.map(({ entry }) => JSON.stringify(entry))];
    refused.set(from.run, { ...known, letters: new Set(all) });
  }

  return {
    /** Schedules an attempt after something was appended. */
    wake: () => schedule(GATHER_TIME),
    /**
     * Stores everything that this process has appended so far.
     *
     * @throws StoreAwayError, or QueryFailedError if the store refuses it. The entries then stay in the journal
     */
    flush: attempt,
    /**
     * Waits until everything is stored, at most for this long (ms), and never rejects. Does not wait while more
     * is in the journal than can be stored in this time.
     */
    async settle(patience: number, { evenIfBehind = false } = {}): Promise<void> {
      if ((isBehind && !evenIfBehind) || performance.now() < blockedUntil) return;
      const done = attempt().then(
        () => true,
        () => true,
      );
      isBehind = !(await Promise.race([done, sleep(patience)]));
    },
    /** Resolves once more of this process's journal is stored. */
    moved: () => nextMove.promise,
    /** Stores the whole journal of an ended process, and removes it. This process's own journal is the last. */
    async adopt(journal: Pick<Source, 'run' | 'folder' | 'environment'>): Promise<void> {
      if (journal.run === run) await running?.catch(() => undefined);
      await moveAll({ ...journal, live: false });
      removeJournal(journal.folder);
      await holder.use((store) => store.forgetJournal(journal.run));
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function isSalt({ entry }: JournalEntry): boolean {
  return entry === 'salt';
}

/** A refused batch: where it begins, how often it was refused, and which entries are in the dead-letter file. */
interface Refused {
  readonly start: LogPosition;
  readonly tries: number;
  readonly letters: ReadonlySet<string>;
}

interface Source {
  readonly run: string;
  readonly folder: string;
  /** The environment of its process. Undefined for that of this process. */
  readonly environment: string | undefined;
  readonly live: boolean;
}

/** Where a batch begins and ends in its journal. */
interface BatchSource extends Pick<Source, 'run' | 'environment'> {
  readonly start: LogPosition;
  readonly next: LogPosition;
}

/** Adapts the size of the next batch. @param share the time of the last batch, divided by the wanted time */
function toBatchBytes(bytes: number, share: number): number {
  if (share > 2) return Math.max(bytes / 2, BATCH_BYTES.least);
  return share < 1 ? Math.min(bytes * 2, BATCH_BYTES.most) : bytes;
}

function toPrepared(entry: JournalEntry, intake: Intake | undefined): PreparedEntry[] {
  return intake ? [{ entry, intake }] : [];
}

function toDeadLetter({ entry, error }: RefusedEntry): DeadLetter {
  return { at: Date.now(), reason: error.message, entry };
}

/** Resolves to `false` after this time. */
function sleep(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(resolve, ms, false));
}

/** @throws StoreAwayError */
async function refusalOf(work: Promise<unknown>): Promise<QueryFailedError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof StoreAwayError) throw error;
    return toQueryFailure(error);
  }
}

/** Treats an unexpected error as a refused value, because it would happen again with the same entry. */
function toQueryFailure(error: unknown): QueryFailedError {
  if (error instanceof QueryFailedError) return error;
  return new QueryFailedError('value', error instanceof Error ? error.message : String(error), { cause: error });
}

function countFailures(entry: JournalEntry): number {
  if (entry.entry === 'count') return entry.record.count;
  return entry.entry === 'whole' || entry.entry === 'thin' ? 1 : 0;
}

/** Returns a test failure, to find out whether the store accepts any. It is never stored. */
function toProbe(): Intake {
  const failure: Failure = {
    id: '0'.repeat(32),
    digest: '00000000',
    occurrence: '00000000',
    rule: 0,
    kind: 'exception',
    side: 'server',
    origin: 'loader',
    at: Date.now(),
    build: '',
    release: '',
    title: '',
    errors: [{ class: 'Error', message: '', frames: [] }],
  };
  return { entry: 'whole', failure };
}
