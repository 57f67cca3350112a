import { type Finding, toOk, toUnknown } from '../finding.ts';
import type { Answer, Ask } from './ask.ts';
import { CACHE_NOTHING_PRIVATE, COMPRESS_ONCE, KEEP_CACHE_HEADERS, PASS_ENCODING } from './remedies.ts';

const ACCEPTED = 'gzip, br';
/** A page that there is where the start page leads elsewhere. */
const DESK_PATH = '/desk';

/** @param answer a page that was asked for with gzip and brotli */
export function judgeCompression({ headers, raw, body }: Pick<Answer, 'headers' | 'raw' | 'body'>): Finding {
  const about = 'Compression';
  const encoding = headers['content-encoding'];
  if (encoding === undefined && isGzip(raw)) {
    return {
      about,
      mark: 'wrong',
      found: 'What comes is gzip, and does not say so: browsers show it as letters without sense.',
      advice: 'Pass Content-Encoding on.',
      remedies: COMPRESS_ONCE,
    };
  }
  if (encoding === undefined || encoding === 'identity') {
    return {
      about,
      mark: 'warning',
      found: 'Pages come as they are, though gzip and brotli were asked for.',
      advice: 'Let the server compress, which keeps streams streams, and let Accept-Encoding through to it.',
      remedies: PASS_ENCODING,
    };
  }
  if (body === undefined || isGzip(body) || encoding.includes(',')) {
    return {
      about,
      mark: 'wrong',
      found: `What comes is compressed twice, or not as it says (${encoding}).`,
      advice: 'Let the server alone compress.',
      remedies: COMPRESS_ONCE,
    };
  }
  return toOk(about, `Pages come as ${encoding}.`);
}

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** @param pages the same one, asked for twice */
export function judgePageCache(pages: readonly [Answer, Answer]): Finding {
  const about = 'Pages are not kept on the way';
  const [first, second] = pages.map(({ headers }) => headers['x-request-id']);
  if (first === undefined || second === undefined)
    return toUnknown(about, 'No X-Request-Id came by which it could be seen.');
  if (first !== second) return toOk(about, 'Each visitor gets an answer of their own.');
  const says = pages[0].headers['cache-control'] ?? '';
  if (/\bpublic\b|s-maxage=[1-9]/.test(says)) return toOk(about, `This one is, as it says: ${says}.`);
  return {
    about,
    mark: 'wrong',
    found: 'Two requests got the same answer out of a cache: one visitor gets what was made for another.',
    advice: `Keep what says that it may be kept, and nothing else (this page says: ${says || 'nothing'}).`,
    remedies: CACHE_NOTHING_PRIVATE,
  };
}

/** The first script or style sheet that a page names. */
export function findAsset(html: string): string | undefined {
  return /["'](\/assets\/[\w./-]+\.(?:js|css))["']/.exec(html)?.[1];
}

export interface AssetAnswers {
  /** As it is, with gzip, and again with the ETag of that. */
  readonly plain: Answer;
  readonly packed: Answer;
  readonly again: Answer;
}

export function judgeAssetAge({ headers }: Pick<Answer, 'headers'>): Finding {
  const about = 'Assets are kept by browsers';
  const given = headers['cache-control'] ?? '';
  const age = Number(/(?:^|[\s,])max-age=(\d+)/.exec(given)?.[1] ?? 0);
  if (age >= 31_536_000 && given.includes('immutable') && !/no-(?:store|cache)/.test(given)) {
    return toOk(about, `Cache-Control: ${given}`);
  }
  return {
    about,
    mark: 'warning',
    found: `Their Cache-Control is changed on the way: ${given || 'there is none'}.`,
    advice: 'Pass on what the server says: names of assets change with their contents.',
    remedies: KEEP_CACHE_HEADERS,
  };
}

export function judgeRevalidation({ packed, again }: Pick<AssetAnswers, 'packed' | 'again'>): Finding {
  const about = 'ETag';
  if (packed.headers.etag === undefined) {
    return {
      about,
      mark: 'warning',
      found: 'It is taken away, so what a browser has is sent again.',
      advice: 'Pass it on.',
      remedies: KEEP_CACHE_HEADERS,
    };
  }
  if (again.status === 304) return toOk(about, 'What a browser has already is answered with 304.');
  return {
    about,
    mark: 'warning',
    found: `What a browser has already is answered with ${again.status} and sent again.`,
    advice: 'Pass If-None-Match on.',
    remedies: KEEP_CACHE_HEADERS,
  };
}

export function judgeAssetBytes({ plain, packed }: Pick<AssetAnswers, 'plain' | 'packed'>): Finding {
  const about = 'Assets are whole';
  if (plain.status === 200 && plain.body && packed.body?.equals(plain.body)) {
    return toOk(about, `The same bytes as they are and as ${packed.headers['content-encoding'] ?? 'they are'}.`);
  }
  return {
    about,
    mark: 'wrong',
    found: 'An asset comes changed, cut, or compressed twice.',
    advice: 'Let nothing on the way change or compress what the server sends.',
    remedies: COMPRESS_ONCE,
  };
}

/**
 * @param home the start page, as it was asked for first
 * @throws NoAnswerError
 */
export async function checkBytes(ask: Ask, home: Answer): Promise<Finding[]> {
  const headers = { 'Accept-Encoding': ACCEPTED };
  const isPage = home.status === 200 && home.headers['content-type']?.startsWith('text/html');
  const [page, packedPage] = isPage
    ? [home, await ask({ path: '/', headers })]
    : await Promise.all([ask({ path: DESK_PATH }), ask({ path: DESK_PATH, headers })]);
  if (packedPage.status !== 200) return [toUnknown('Pages', `There is none to look at: ${packedPage.status}.`)];
  const path = findAsset(String(page.body));
  const findings = [judgeCompression(packedPage), judgePageCache([page, packedPage])];
  if (path === undefined) return [...findings, toUnknown('Assets', 'No page names one.')];
  const [plain, packed] = await Promise.all([
    ask({ path, headers: { 'Accept-Encoding': 'identity' } }),
    ask({ path, headers }),
  ]);
  const again = await ask({ path, headers: { ...headers, 'If-None-Match': packed.headers.etag ?? '""' } });
  return [...findings, judgeAssetAge(packed), judgeRevalidation({ packed, again }), judgeAssetBytes({ plain, packed })];
}
