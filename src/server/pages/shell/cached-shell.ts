import { KiB } from '../../../shared/units.ts';
import { type Path, toPathText, WireError } from '../../../shared/wire/format.ts';
import type { PageError } from '../../../shared/wire/payload.ts';
import { FRAME_ROUTE } from '../../../shared/wire/protocol.ts';
import { drawRandom } from '../../request/draw-random.ts';
import { type Loaded, type LoadedPage, loadGuarded } from '../load-page.ts';
import { type CachedShell, type Hole, isGone, type ShellMarks, toOwnBytes } from '../page-cache.ts';
import type { PageRuntime } from '../page-runtime.ts';
import { collectPersonal } from '../personal.ts';
import { encodePage, toEtag, withFailure } from '../render/encode-page.ts';
import { CLOSING } from '../render/page-sink.ts';
import { renderPage } from '../render/render-page.tsx';
import { writeDocument } from '../render/write-document.ts';
import { MemoryTarget, renderForEveryone, type SharedPageRequest } from '../shared-page.ts';

/** A text without marks that is larger is sent as it is (UTF-16 code units). */
const UNTOUCHED = 8 * KiB;

/** The text of the data is in memory as a string, as objects, and in the document. */
const DATA_COPIES = 3;

/** React's state fits only the components of its own build. @param target path and search */
export function toShellKey({ server }: Pick<PageRuntime, 'server'>, target: string): string {
  return `${target} ${server.manifest.buildId}`;
}

/** Returns the page's shell from memory, or renders it for everyone who waits for it. */
export function getShell(runtime: PageRuntime, pageRequest: SharedPageRequest): Promise<CachedShell> {
  return runtime.caches.shells.get(toShellKey(runtime, pageRequest.path + pageRequest.search), () =>
    renderForEveryone(runtime, pageRequest, () => renderShell(runtime, pageRequest)),
  );
}

async function renderShell(runtime: PageRuntime, pageRequest: SharedPageRequest): Promise<CachedShell> {
  const { context } = await pageRequest.toArgs();
  const personal = collectPersonal(context);
  const holes = new Map<string, Hole>();
  const hasGuards = pageRequest.match.ids.some((id) => runtime.app.pages[id]?.guard !== undefined);
  function toFailed(failed: Loaded): CachedShell {
    const hasAnswer = failed.kind === 'redirect' || (failed.kind === 'page' && isGone(failed.status));
    return { bytes: 0, loaded: failed, holes: [...holes.values()], hasGuards, failed: { isGone: hasAnswer } };
  }
  const loaded = await loadGuarded({ runtime, pageRequest }, undefined);
  if (loaded.kind !== 'page') return toFailed(loaded);
  const misplaced: { readonly routeId: string; readonly thrown: WireError }[] = [];
  const encoded = encodePage({ runtime, pageRequest }, loaded, undefined, function takeHole(place, path) {
    const value = personal.get(place);
    if (!value) return undefined;
    const id = toPathText(path);
    if (!leadsTo(place, loaded.data, path)) misplaced.push({ routeId: String(path[1]), thrown: toMisplaced(id) });
    holes.set(id, { id, path, value });
    return id;
  });
  if (encoded.loaded.errors) return toFailed(encoded.loaded);
  const { payload } = encoded;
  const { head, deferred = [] } = encoded.encoded;
  const lines: string[] = [];
  for await (const line of deferred) lines.push(line);
  if (misplaced[0]) return toFailed(withFailure(pageRequest, loaded, misplaced[0]));

  const marks = { nonce: drawRandom(16, 'hex'), trace: drawRandom(16, 'hex') };
  const { nonce, trace } = marks;
  const rendered = await renderPage({ runtime, pageRequest, nonce, isShell: true }, payload);
  if (rendered.kind === 'last-resort') return toFailed(withError(loaded, { [FRAME_ROUTE]: rendered.error }));
  if (rendered.kind !== 'page') return toFailed(rendered);
  if (rendered.payload.errors) return toFailed(withError(loaded, rendered.payload.errors));
  const { text, postponed } = rendered.render.prerendered ?? { text: '', postponed: undefined };
  const target = new MemoryTarget();
  const page = { ...encoded, encoded: { head, deferred: each(lines) } };
  await writeDocument({ runtime, pageRequest }, { page, rendered, target, nonce, trace });
  const html = target.bytes.toString().slice(0, -CLOSING.length);
  const data = [head, ...lines].join('\n');
  // A promise that never settles holds React's render, and with it this visitor's request and response.
  personal.clear();
  const shared = [...holes.values()].reduce<unknown>(
    (filled, { path }) => putAt(filled, path.slice(1), undefined),
    loaded.data,
  ) as LoadedPage['data'];
  return {
    bytes: html.length + (postponed?.length ?? 0) + DATA_COPIES * data.length,
    loaded: { ...loaded, data: shared },
    holes: [...holes.values()],
    hasGuards,
    page: {
      payload: { ...payload, data: shared },
      data,
      etag: toEtag(runtime.server.manifest, data),
      parts: text === '' ? undefined : cut(addNonce(html, nonce), marks),
      marks,
      postponed,
    },
    failed: pageRequest.hasFailed ? { isGone: false } : undefined,
  };
}

function withError(loaded: LoadedPage, errors: Record<string, PageError>): LoadedPage {
  const [error] = Object.values(errors);
  return { ...loaded, status: error?.status ?? 500, errors };
}

function toMisplaced(id: string): WireError {
  return new WireError(
    `${id} is a personal value, but not directly in the loader's data. Return it in plain objects and arrays, outside of other promises.`,
  );
}

/** Whether the path leads to the place through objects that can be copied for each visitor. */
function leadsTo(place: PromiseLike<unknown>, data: unknown, [, ...path]: Path): boolean {
  const found = path.reduce((at, key) => (isCopied(at) ? at[key as keyof typeof at] : undefined), data);
  return found === place;
}

function isCopied(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

/** Copies everything on the path. */
export function putAt(value: unknown, [key, ...rest]: Path, content: unknown): unknown {
  if (key === undefined) return content;
  // `leadsTo` has checked the path. The copy has the key as its own property, even if it is `__proto__`.
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = putAt(copy[key], rest, content);
  return copy;
}

async function* each(lines: readonly string[]): AsyncGenerator<string, void> {
  yield* lines;
}

/** The one script of React in a shell. */
const REACT_SCRIPT =
  /<script(?: id="[^"]*")?>requestAnimationFrame\(function\(\)\{\$RT=performance\.now\(\)\}\);<\/script>/g;

/** Adds what a prerender leaves out. Data can bring other styles into the body, but not into the head. */
function addNonce(html: string, nonce: string): string {
  const styled = html.replace(/^.*?<\/head>/s, (head) =>
    head.replaceAll('<style data-precedence=', `<style nonce="${nonce}" data-precedence=`),
  );
  return styled.replace(REACT_SCRIPT, (script) => script.replace('<script', `<script nonce="${nonce}"`));
}

function cut(html: string, { nonce, trace }: ShellMarks): (string | Buffer)[] {
  const parts: (string | Buffer)[] = [];
  let small = '';
  for (const text of html.split(new RegExp(`(${nonce}|${trace})`))) {
    if (text.length < UNTOUCHED) {
      small += text;
      continue;
    }
    parts.push(small, toOwnBytes(Buffer.from(text)));
    small = '';
  }
  return [...parts, small];
}
