import { VisitorGone } from '../../request/http-error.ts';
import type { Blocked, Loaded } from '../load-page.ts';
import type { CachedShell, Hole } from '../page-cache.ts';
import type { PageRuntime } from '../page-runtime.ts';
import type { PersonalValue } from '../personal.ts';
import { SharedPageRequest } from '../shared-page.ts';
import type { VisitorPageRequest } from '../visitor-page.ts';
import { getShell, putAt } from './cached-shell.ts';

type Data = Record<string, unknown>;

/** A shell that was sent before its page request began. */
export interface BegunShell {
  readonly shell: CachedShell;
  readonly nonce: string;
}

interface VisitorShellOptions {
  readonly begun?: BegunShell | undefined;
  readonly wantsHoles?: boolean | undefined;
}

/** The shell of a page, for one of its visitors. */
export class VisitorShell {
  /** The request is for the holes only. */
  readonly wantsHoles: boolean;
  /** The nonce of the shell, if it was sent already. */
  readonly sentNonce: string | undefined;
  readonly #runtime: PageRuntime;
  readonly #visitor: VisitorPageRequest;
  #shell: Promise<CachedShell> | undefined;

  constructor(runtime: PageRuntime, visitor: VisitorPageRequest, { begun, wantsHoles = false }: VisitorShellOptions) {
    this.#runtime = runtime;
    this.#visitor = visitor;
    this.#shell = begun && Promise.resolve(begun.shell);
    this.sentNonce = begun?.nonce;
    this.wantsHoles = wantsHoles;
  }

  /** Returns the same shell each time, because a shell that failed is in no cache. */
  find(): Promise<CachedShell> {
    this.#shell ??= getShell(this.#runtime, new SharedPageRequest(this.#runtime, this.#visitor));
    return this.#shell;
  }

  /**
   * Returns the data of the shell with the personal values of this visitor, for a page that is rendered for this request.
   *
   * @param reached the routes outside of the one that is blocked
   */
  async load({ reached, blocked }: { reached: readonly string[]; blocked: Blocked | undefined }): Promise<Loaded> {
    const { loaded, holes } = await this.find();
    if (this.#visitor.endedBy instanceof VisitorGone) return { kind: 'gone' };
    if (loaded.kind !== 'page') return loaded;
    const { data, errors } = loaded;
    const shown = Object.fromEntries(reached.filter((id) => id in data).map((id) => [id, data[id]]));
    const own = holes.filter(({ path }) => String(path[1]) in shown);
    const filled = { kind: 'page' as const, data: this.fill(shown, own).data };
    if (!blocked || (errors && reached.some((id) => errors[id]))) return { ...filled, status: loaded.status, errors };
    return { ...filled, status: blocked.error.status, errors: { [blocked.routeId]: blocked.error } };
  }

  /**
   * Begins to load the personal values of this visitor.
   *
   * @returns a copy of the data with this visitor's promises in the holes, and these promises by the id of their hole
   */
  fill(data: Data, holes: readonly Hole[]): { data: Data; promises: ReadonlyMap<string, Promise<unknown>> } {
    const begun = new Map<PersonalValue, Promise<unknown>>();
    const promises = new Map<string, Promise<unknown>>();
    let filled: unknown = data;
    for (const { id, path, value } of holes) {
      const promise = begun.get(value) ?? this.#begin(value);
      begun.set(value, promise);
      promises.set(id, promise);
      filled = putAt(filled, path.slice(1), promise);
    }
    return { data: filled as Data, promises }; // a copy of `data`
  }

  #begin({ load }: PersonalValue): Promise<unknown> {
    const promise = this.#visitor.toArgs().then((args) => load(args as never));
    promise.catch(() => {}); // it can reject before it is rendered
    return promise;
  }
}
