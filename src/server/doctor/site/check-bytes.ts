import { DESTINATION_CHECKS } from '../destination-checks.ts';
import { type Checks, type Finding, judge, ok, unknown, warning, wrong } from '../finding.ts';
import type { Answer, Ask } from './ask.ts';
import { REMEDIES } from './remedies.ts';

const COMPRESSED = { 'Accept-Encoding': 'gzip, br' };
/** The max-age that the server gives assets (seconds). */
const ASSET_AGE = 31_536_000;

export interface BytesFacts {
  /** The same page twice, the second time with gzip and brotli accepted. */
  readonly pages: readonly [Answer, Answer];
  /** An asset that the page names; undefined if it names none. */
  readonly asset: AssetAnswers | undefined;
}

export interface AssetAnswers {
  readonly plain: Answer;
  /** With gzip and brotli accepted. */
  readonly packed: Answer;
  /** The same request with the ETag of `packed`. */
  readonly again: Answer;
}

export const BYTES_CHECKS = {
  /** Does a page arrive compressed, and only once? */
  Compression({ pages: [, { headers, body }] }) {
    const encoding = headers['content-encoding'] ?? 'identity';
    if (encoding === 'identity' && !isGzip(body)) {
      return warning(
        'Pages are not compressed, although gzip and brotli were accepted.',
        'Let the server compress, because it keeps streams flowing, and pass Accept-Encoding on.',
        REMEDIES.passEncoding,
      );
    }
    if (encoding === 'identity') {
      return wrong(
        'Pages are gzip without Content-Encoding: browsers show them as random characters.',
        'Pass Content-Encoding on.',
        REMEDIES.compressOnce,
      );
    }
    if (body === undefined || isGzip(body) || encoding.includes(',')) {
      return wrong(
        `Pages are compressed twice, or not as Content-Encoding says (${encoding}).`,
        'Let only the server compress.',
        REMEDIES.compressOnce,
      );
    }
    return ok(`Pages are compressed with ${encoding}.`);
  },

  /** Does each visitor get a page made for them? Each response has its own request id. */
  'Page cache'({ pages }) {
    const [first, second] = pages.map(({ headers }) => headers['x-request-id']);
    if (first === undefined || second === undefined) return unknown('There is no X-Request-Id to compare.');
    if (first !== second) return ok('No cache on the way answers in place of the server.');
    const cacheControl = pages[0].headers['cache-control'] ?? '';
    if (/\bpublic\b|s-maxage=[1-9]/.test(cacheControl)) {
      return ok(`A cache answered, as the page allows: ${cacheControl}.`);
    }
    return wrong(
      'A cache answered two requests with the same page: a visitor can get what was made for another.',
      `Cache only pages whose Cache-Control allows it. Cache-Control here: ${cacheControl || 'none'}.`,
      REMEDIES.cacheNothingPrivate,
    );
  },

  Assets({ asset }) {
    return asset ? undefined : unknown('The page names no asset.');
  },

  /** Do browsers keep assets? */
  'Asset cache'({ asset }) {
    if (!asset) return undefined;
    const cacheControl = asset.packed.headers['cache-control'] ?? '';
    const age = Number(/(?:^|[\s,])max-age=(\d+)/.exec(cacheControl)?.[1] ?? 0);
    if (age >= ASSET_AGE && cacheControl.includes('immutable') && !/no-(?:store|cache)/.test(cacheControl)) {
      return ok(`Cache-Control: ${cacheControl}`);
    }
    return warning(
      `A proxy changes Cache-Control of assets: ${cacheControl || 'it is missing'}.`,
      'Pass it on. The names of assets change with their contents.',
      REMEDIES.keepCacheHeaders,
    );
  },

  /** Does a browser avoid loading again what it has? */
  ETag({ asset }) {
    if (!asset) return undefined;
    if (asset.packed.headers.etag === undefined) {
      return warning(
        'A proxy removes ETag, so browsers load again what they have.',
        'Pass it on.',
        REMEDIES.keepCacheHeaders,
      );
    }
    if (asset.again.status === 304) return ok('A browser that has the asset gets 304.');
    return warning(
      `A browser that has the asset gets it again, with status ${asset.again.status}.`,
      'Pass If-None-Match on.',
      REMEDIES.keepCacheHeaders,
    );
  },

  /** Does an asset arrive unchanged? */
  'Asset bytes'({ asset }) {
    if (!asset) return undefined;
    const { plain, packed } = asset;
    if (plain.status === 200 && plain.body && packed.body?.equals(plain.body)) {
      return ok(`They are the same uncompressed and with ${packed.headers['content-encoding'] ?? 'no encoding'}.`);
    }
    return wrong(
      'An asset arrives changed, incomplete or compressed twice.',
      'Let nothing on the way change or compress what the server sends.',
      REMEDIES.compressOnce,
    );
  },
} satisfies Checks<BytesFacts>;

function isGzip(bytes: Buffer | undefined): boolean {
  return bytes?.[0] === 0x1f && bytes[1] === 0x8b;
}

/**
 * @param home the start page
 * @throws NoAnswerError
 */
export async function checkBytes(ask: Ask, home: Answer): Promise<Finding[]> {
  const isPage = home.status === 200 && home.headers['content-type']?.startsWith('text/html');
  const path = isPage ? '/' : (DESTINATION_CHECKS.page ?? '/');
  const page = isPage ? home : await ask({ path });
  const pages = [page, await ask({ path, headers: COMPRESSED })] as const;
  return judge(BYTES_CHECKS, { pages, asset: await measureAsset(ask, String(page.body)) });
}

async function measureAsset(ask: Ask, html: string): Promise<AssetAnswers | undefined> {
  const path = findAsset(html);
  if (path === undefined) return undefined;
  const plain = await ask({ path, headers: { 'Accept-Encoding': 'identity' } });
  const packed = await ask({ path, headers: COMPRESSED });
  const again = await ask({ path, headers: { ...COMPRESSED, 'If-None-Match': packed.headers.etag ?? '""' } });
  return { plain, packed, again };
}

/** Finds the first script or style sheet that a page names. */
export function findAsset(html: string): string | undefined {
  return /["'](\/assets\/[\w./-]+\.(?:js|css))["']/.exec(html)?.[1];
}
