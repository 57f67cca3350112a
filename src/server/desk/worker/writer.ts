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
  /** Makes entries into what is stored, in their order: source maps, late digests. */
  readonly prepare: (entries: readonly JournalEntry[]) => Promise<Intake[]>;
  readonly deadLetters: DeadLetters;
  /** Told when something is in the store. */
  readonly onTaken?: () => void;
  /** The first wait before the store is tried again (ms). */
  readonly retryFirst?: number;
  readonly count: Count;
  readonly log: DeskLog;
}

/** Moves journals into the store. */
export function createWriter(options: WriterOptions) {
  const { run, folder, signals, holder, prepare, deadLetters, onTaken, retryFirst = RETRY_FIRST, count, log } = options;
  const slots = createSlots({ count: 1 });
  let timer: NodeJS.Timeout | undefined;
  let wait = retryFirst;
  let isStopped = false;
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  /** When the store is tried again after it refused the journal or was away (ms, monotonic). */
  let blockedUntil = Number.NEGATIVE_INFINITY;
  let isRefusalLogged = false;
  /** The journal has more than can be stored while a question waits. */
  let isBehind = false;
  let batchBytes = BATCH_BYTES.least;
  let nextMove = Promise.withResolvers<void>();
  /** By journal. */
  const refused = new Map<string, Refused>();
  /** Until when batches are stored without their extras, because the store refused those (ms, monotonic). */
  let extrasAt = Number.NEGATIVE_INFINITY;
  let areExtrasLogged = false;

  function schedule(delay: number): void {
    if (timer || isStopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      attempt().catch(() => undefined);
    }, delay);
  }

  /** One at a time, and one more for what is appended while it runs, however many ask. */
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
    // Cleared first: what is appended from here on wakes again.
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
    if (isRefusalLogged) log.info({}, 'The store takes the journal again.');
    isRefusalLogged = false;
    blockedUntil = Number.NEGATIVE_INFINITY;
    isBehind = false;
    wait = retryFirst;
    nextMove.resolve();
    nextMove = Promise.withResolvers();
  }

  /** It stays in the journal and is tried again, with growing pauses. */
  function noteBlocked(error: unknown): void {
    // A store that is away was logged already.
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
      'The store refuses what is in the journal. It stays there, and Spillway tries again less and less often. Everything else continues.',
    );
  }

  /** Piece by piece, so that several journals take turns, and messages are heard in between. */
  async function moveAll(journal: Source): Promise<void> {
    let from: LogPosition | undefined;
    for (;;) {
      const next = await slots.use(() => moveNext(journal, from));
      if (!next) return;
      from = next;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** @returns the position behind what was stored; undefined at the end of the journal */
  async function moveNext(journal: Source, known: LogPosition | undefined): Promise<LogPosition | undefined> {
    // Asked first, because a connection that broke may or may not have stored what it was sent.
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
      log.warn({ run: from.run, lines: skipped }, 'Lines of a journal that are not whole were left out.');
    }
    const { batch, broken } = await prepareEach(entries);
    giveUp(broken, from);
    const error = await tryStore(batch, from);
    if (error) await storeAccepted(batch, from, error);
    refused.delete(from.run);
    onTaken?.();
  }

  /** An entry that cannot even be prepared must not hold up the others. */
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

  /** Stores a batch, if need be without its extras. @returns why the store refuses it all the same */
  async function tryStore(
    batch: readonly PreparedEntry[],
    { run: of, next, environment }: BatchSource,
  ): Promise<QueryFailedError | undefined> {
    const stored = { entries: batch.map(({ intake }) => intake), from: { run: of, next }, environment };
    const put = (withoutExtras: boolean) =>
      refusalOf(holder.use((store) => store.takeIn({ ...stored, withoutExtras })));
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

  /** The next batches are spared the wait for what is not to be had. */
  function noteExtras(error: QueryFailedError): void {
    count('spillway_journal_refused_total', { outcome: 'without_extras' });
    if (error.reason !== 'value') extrasAt = performance.now() + EXTRAS_PAUSE;
    if (areExtrasLogged) return;
    areExtrasLogged = true;
    log.error(
      { err: error },
      'The store refuses what only helps to find failures and to notify of them, so they are stored without search text, number of visitors and notifications.',
    );
  }

  /**
   * Leaves out the entries that the store never accepts, and after some tries those that it keeps refusing
   * although it accepts others.
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
    // If it does not even accept a failure that is made for this purpose, no entry is at fault.
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

  /** Before the rest is stored, so that nothing is lost. If that fails, the same entries are given up again. */
  function giveUp(letters: readonly DeadLetter[], from: BatchSource): void {
    const known = refusedOf(from);
    const fresh = letters.filter(({ entry }) => !known.letters.has(JSON.stringify(entry)));
    deadLetters.add(fresh, from.environment);
    const all = [...known.letters, ...fresh.map(({ entry }) => JSON.stringify(entry))];
    refused.set(from.run, { ...known, letters: new Set(all) });
  }

  return {
    /** Something was appended: it is stored soon. */
    wake: () => schedule(GATHER_TIME),
    /**
     * Stores what this process has appended so far.
     *
     * @throws StoreAwayError, or QueryFailedError if the store refuses it; then it stays in the journal
     */
    flush: attempt,
    /**
     * Waits for that, at most for so long (ms), and never rejects. While there is more than can be stored
     * in this time, the next ones do not wait: it would be in vain.
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
    /** Stores all of an ended process's journal, and removes it. This process's own is the last one. */
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

/** A batch that was refused: where it begins, how often, and which of its entries are in the dead-letter file. */
interface Refused {
  readonly start: LogPosition;
  readonly tries: number;
  readonly letters: ReadonlySet<string>;
}

interface Source {
  readonly run: string;
  readonly folder: string;
  /** Where its process ran; undefined for the environment of this one. */
  readonly environment: string | undefined;
  readonly live: boolean;
}

/** Where a batch begins and ends in its journal. */
interface BatchSource extends Pick<Source, 'run' | 'environment'> {
  readonly start: LogPosition;
  readonly next: LogPosition;
}

/** @param share how long the last one took, in parts of what it should take */
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

/** @returns false */
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

/** What breaks over an entry will break over it again. */
function toQueryFailure(error: unknown): QueryFailedError {
  if (error instanceof QueryFailedError) return error;
  return new QueryFailedError('value', error instanceof Error ? error.message : String(error), { cause: error });
}

function countFailures(entry: JournalEntry): number {
  if (entry.entry === 'count') return entry.record.count;
  return entry.entry === 'whole' || entry.entry === 'thin' ? 1 : 0;
}

/** A made-up failure, to find out whether the store accepts any. It is never stored. */
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
