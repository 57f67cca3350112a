// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are lines of source
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Plausible mistakes by area: the tests that run for them, and of each its name, file, line and faulty line. */
const AREAS = {
  http: {
    tests: [
      ...['request', 'connection', 'front', 'api'].map((room) => `tests/server/${room}`),
      'tests/server/app.test.ts',
    ],
    faults: [
      [
        'two Host headers are accepted',
        'src/server/front/normalize-url.ts',
        'if (countHosts(req) > 1) return',
        'if (countHosts(req) > 2) return',
      ],
      [
        'another spelling is not redirected',
        'src/server/front/normalize-url.ts',
        "'path' in spelling && spelling.path !== raw ?",
        "'path' in spelling && spelling.path.length !== raw.length ?",
      ],
      [
        'an absolute URL of any host is accepted',
        'src/server/front/normalize-url.ts',
        'if (!match?.[1] || match[1].toLowerCase() !== host?.toLowerCase()) return undefined;',
        'if (!match?.[1]) return undefined;',
      ],
      [
        'same-site counts as same-origin',
        'src/server/front/cross-site.ts',
        "return site === 'same-origin' || site === 'none';",
        "return site !== 'cross-site';",
      ],
      [
        'an untrusted scheme is used',
        'src/server/front/host-check.ts',
        "return trusted && firstValue(req.headers['x-forwarded-proto'])",
        "return firstValue(req.headers['x-forwarded-proto'])",
      ],
    ],
  },
  addresses: {
    tests: ['tests/desk/e2e/gallery.test.ts'],
    faults: [
      [
        'a problem links to the incident only',
        'src/desk/server/index.ts',
        "address.replace('-', '/')",
        "address.split('-')[0]",
      ],
    ],
  },
  pages: {
    tests: ['tests/server/pages', 'tests/server/app.test.ts'],
    faults: [
      [
        'a failed static page is kept',
        'src/server/pages/page-cache.ts',
        'if (page && !page.failed) entries.add(key, page);',
        'if (page) entries.add(key, page);',
      ],
      ['the cache forgets its size', 'src/server/pages/page-cache.ts', '    bytes -= toSize(key, entry.page);\n', ''],
      [
        'each visitor renders a static page',
        'src/server/pages/page-cache.ts',
        'if (running) return running as',
        'if (running && key === "") return running as',
      ],
      [
        'an inner failure hides the outer one',
        'src/server/pages/load-page.ts',
        'if (failedOutside) continue;\n    if (',
        'if (',
      ],
      [
        'loaders run behind a closed guard',
        'src/server/pages/load-page.ts',
        'const reached = stopped ? ids.slice(0, ids.indexOf(stopped.routeId)) : ids;',
        'const reached = ids;',
      ],
      [
        'the version is read after the loaders',
        'src/server/pages/load-page.ts',
        'if (loading.length === 0 || !loading.every((page) => page?.version)) return undefined;',
        'if (loading.length === 0 || !loading.some((page) => page?.version)) return undefined;',
      ],
      [
        'a completed form renders instead of redirecting',
        'src/server/pages/actions/post-action.ts',
        'return result.status === 200 && result.data === undefined;',
        'return result.status === 200 && result.data === null;',
      ],
      [
        'a compressed form is read',
        'src/server/pages/actions/form-body.ts',
        "if (encoding && encoding.toLowerCase() !== 'identity')",
        "if (encoding === 'br')",
      ],
      [
        'a cached page never answers 304',
        'src/server/pages/static/static-page.ts',
        "if (!failed && matchesEtag(req.headers['if-none-match'], etag)) {",
        "if (failed && matchesEtag(req.headers['if-none-match'], etag)) {",
      ],
      [
        'visitors share the personal values of a shell',
        'src/server/pages/shell/visitor-shell.ts',
        '    const begun = new Map<PersonalValue, Promise<unknown>>();\n',
        '    const begun = ((globalThis as { begun?: Map<PersonalValue, Promise<unknown>> }).begun ??= new Map());\n',
      ],
      [
        "visitors share React's state of a shell",
        'src/server/pages/render/render-page.tsx',
        'resume(page, JSON.parse(postponed) as PostponedState,',
        'resume(page, (((globalThis as { s?: unknown }).s ??= JSON.parse(postponed)) as PostponedState),',
      ],
      [
        'a shell is sent before its guards',
        'src/server/pages/shell/send-shell.ts',
        'if (!shell?.page?.parts || shell.hasGuards) return undefined;',
        'if (!shell?.page?.parts) return undefined;',
      ],
      [
        'a dropped shell is kept by a render that had begun',
        'src/server/pages/page-cache.ts',
        'if (!isCurrent()) return page;',
        '',
      ],
    ],
  },
  navigation: {
    tests: ['tests/client', 'tests/shared', 'tests/e2e/product'],
    faults: [
      [
        'a dynamic response is used twice',
        'src/client/page-data/prefetches.ts',
        'entry.isCached &&= isStatic(entry);',
        'entry.isCached ||= isStatic(entry);',
      ],
      [
        'responses never expire',
        'src/client/page-data/page-entries.ts',
        '(isStatic(entry) ? STATIC_STALE_TIME : DYNAMIC_PREFETCH_TIME)',
        'STATIC_STALE_TIME',
      ],
      ['a response from before an action is kept', 'src/client/page-data/store.ts', '      prefetches.clear();\n', ''],
      [
        'prefetches have no limit',
        'src/client/page-data/prefetches.ts',
        'while (entries.countPrefetches() < PREFETCH_CONCURRENCY) {',
        'while (entries.countPrefetches() < PREFETCH_CONCURRENCY * 10) {',
      ],
      [
        'another build is not noticed',
        'src/client/page-data/store.ts',
        'if (of === undefined || of === build) return false;',
        'if (of === undefined || of !== "") return false;',
      ],
      [
        'Save-Data is ignored',
        'src/client/navigation/navigator.ts',
        'if (store.isSkewed() || hasSaveData() ||',
        'if (store.isSkewed() ||',
      ],
      [
        'a truncated response counts as complete',
        'src/client/page-data/fetch-page-data.ts',
        'if (decoder.pending > 0 && !copy) throw',
        'if (decoder.pending > 9 && !copy) throw',
      ],
    ],
  },
  digest: {
    tests: ['tests/server/errors'],
    faults: [
      [
        'the cause is left out',
        'src/server/errors/digest/create-digest.ts',
        "return name === toClass(primary, location) ? '' : name;",
        "return '';",
      ],
      [
        'the engine’s frame wins',
        'src/server/errors/digest/find-location.ts',
        'if (rank === RANK.product) return location;',
        'if (rank <= RANK.engine) return location;',
      ],
      [
        'digits stay in words',
        'src/server/errors/digest/read-message.ts',
        "    .replace(/(?<!\\S)\\S*\\d\\S*/g, '?')\n",
        '',
      ],
      [
        'async frames of V8 are lost',
        'src/server/errors/digest/read-error.ts',
        "const isAsync = text.startsWith('async ');",
        "const isAsync = text.startsWith('await ');",
      ],
      [
        'the namespace is left out',
        'src/server/errors/digest/create-digest.ts',
        'toDigest([String(DIGEST_RULE), namespace, ',
        'toDigest([String(DIGEST_RULE), ',
      ],
    ],
  },
  journal: {
    tests: ['tests/desk/server/ingest/journal.test.ts', 'tests/desk/server/desk.', 'tests/desk/server/worker'],
    faults: [
      ['a part of a line stays', 'src/desk/server/ingest/segments.ts', '      ftruncateSync(torn, end.offset);\n', ''],
      [
        'browsers thin what servers saw',
        'src/desk/server/ingest/journal.ts',
        'rate.take(`${failure.digest} ${failure.side}`,',
        'rate.take(failure.digest,',
      ],
      [
        'a full journal grows',
        'src/desk/server/ingest/journal.ts',
        'if (measure() > limits.maxBytes) throw',
        'if (measure() > 9 * limits.maxBytes) throw',
      ],
      [
        'a closed journal accepts entries',
        'src/desk/server/ingest/journal.ts',
        'if (isClosed || now() < retryAt) return false;',
        'if (now() < retryAt) return false;',
      ],
      [
        'a sampled-out echo counts as a failure',
        'src/desk/server/ingest/journal.ts',
        "return failure.echoOf !== undefined || append({ entry: 'summary',",
        "return append({ entry: 'summary',",
      ],
    ],
  },
  store: {
    tests: ['tests/desk/server/store', 'tests/desk/server/ingest/strangers.'],
    faults: [
      [
        'counts are replaced, not added',
        'src/desk/server/store/ingest/store-incidents.ts',
        "'server_count = desk_incidents.server_count + excluded.server_count',",
        "'server_count = excluded.server_count',",
      ],
      [
        'an earlier first time is ignored',
        'src/desk/server/store/ingest/store-incidents.ts',
        "replaceIf('excluded.first_at < desk_incidents.first_at', name)",
        "replaceIf('excluded.first_at > desk_incidents.first_at', name)",
      ],
      [
        'an alias hides an address',
        'src/desk/server/store/find-incident.ts',
        "found.find((one) => one?.side === 'server') ?? found",
        'found.toReversed()',
      ],
      [
        'reports of browsers take the room of servers',
        'src/desk/server/store/ingest/store-occurrences.ts',
        'FULL_PER_HOUR - (row?.[`${side}_full`] ?? 0)',
        'FULL_PER_HOUR - (row?.browser_full ?? 0)',
      ],
      [
        'the position of a living process goes',
        'src/desk/server/store/retention.ts',
        ' AND p.ended IS NULL)',
        ' AND p.ended IS NULL AND 1 = 0)',
      ],
      [
        'failures of servers go before reports of browsers',
        'src/desk/server/store/retention.ts',
        `  dropPayloads("side = 'browser'"),\n`,
        "  dropPayloads('1 = 1'),\n",
      ],
    ],
  },
  signIn: {
    tests: ['tests/desk/server/access', 'tests/desk/server/pages'],
    faults: [
      [
        'any tag is accepted',
        'src/desk/server/access/sign-in.ts',
        'timingSafeEqual(Buffer.from(toTag(secret, key)), given)',
        'timingSafeEqual(given, given)',
      ],
      [
        'the cookie goes to http',
        'src/desk/server/access/credentials.ts',
        "requestInfo(req).secure ? '; Secure' : ''",
        "requestInfo(req).secure ? '' : ''",
      ],
      [
        'a forged header stays in the request',
        'src/desk/server/access/credentials.ts',
        '    if (proxy && !proxied) removeHeader(req, proxy.header);\n',
        '',
      ],
    ],
  },
  tunnel: {
    tests: ['tests/server/reports', 'tests/server/request/token-buckets.test.ts'],
    faults: [
      [
        'an echo counts repeatedly',
        'src/server/reports/memory.ts',
        'if (at !== undefined && now - at < ECHO_AGE) return false;',
        'if (at !== undefined && at > now) return false;',
      ],
      [
        'new incidents have no limit',
        'src/server/reports/memory.ts',
        'if (openedAt.length >= MAX_AN_HOUR) return false;',
        'if (openedAt.length >= MAX_ADMITTED) return false;',
      ],
      [
        'buckets overflow',
        'src/server/request/token-buckets.ts',
        'return Math.min(burst, tokens +',
        'return Math.max(burst, tokens +',
      ],
      [
        'an envelope for another site is accepted',
        'src/server/reports/ingest-envelope.ts',
        'if (upstream ? dsn === upstream.dsn : isThisSite) return;',
        'if (dsn) return;',
      ],
      [
        'an echo that was not stored counts as seen',
        'src/server/reports/ingest-envelope.ts',
        'if (!stored && echoOf !== undefined) echoes.forget(echoOf);',
        '',
      ],
    ],
  },
  api: {
    tests: ['tests/desk/server/api', 'tests/server/api/implement.test.ts'],
    faults: [
      [
        'a viewer changes things',
        'src/desk/server/api/caller.ts',
        "if (role !== 'operator' && !isRead(req) && req.method !== 'OPTIONS') {",
        "if (role === '' && !isRead(req) && req.method !== 'OPTIONS') {",
      ],
      [
        'If-Match is ignored',
        'src/desk/server/api/incident.ts',
        ", expected: toExpected(headers['if-match']) };",
        ' };',
      ],
      [
        'a repeated query parameter is accepted',
        'src/server/api/read-input.ts',
        '} else if (values.has(name)) {',
        '} else if (values.has(`${name} `)) {',
      ],
      [
        'a GET is sent again',
        'src/server/api/serve-operations.ts',
        'if (isRead(req) && status < 300 && isFresh(',
        "if (req.method === 'HEAD' && status < 300 && isFresh(",
      ],
    ],
  },
  build: {
    tests: ['tests/build'],
    faults: [
      [
        'preloads are forgotten',
        'build/manifest.mjs',
        "if (kind !== 'import-statement' || external || found.has(path)) continue;",
        "if (kind !== 'require-call' || external || found.has(path)) continue;",
      ],
      [
        'helpers are not marked',
        'build/locations.mjs',
        '(location.isHelper ? FLAGS.helper : 0)',
        '(location.isHelper && location.isErrorClass ? FLAGS.helper : 0)',
      ],
      ['styles of the entry load twice', 'build/styles.mjs', 'user === entry || !ofEntry.includes(file)', 'true'],
    ],
  },
  development: {
    tests: ['tests/e2e/development'],
    faults: [
      [
        'pages are not notified of a new server',
        'bin/develop.mjs',
        'if (isAlive(current)) sendToServer(current,',
        'if (isAlive(current) && state.error) sendToServer(current,',
      ],
      [
        'a change of the server is not served',
        'bin/develop.mjs',
        'if (name !== servedBuild || !isInSource || !isAlive(current)) {',
        'if (!isInSource || !isAlive(current)) {',
      ],
    ],
  },
};

/**
 * @typedef {{ area: string, name: string, file: string, from: string, to: string, tests: readonly string[] }} Fault
 * @type {readonly Fault[]}
 */
export const faults = Object.entries(AREAS).flatMap(([area, { tests, faults }]) =>
  faults.map(([name, file, from, to]) => ({ area, name, file, from, to, tests })),
);

/**
 * Returns the faults whose line their file does not contain exactly once, such as after the file was moved.
 *
 * @param {string} root folder of the clone
 * @param {readonly Fault[]} chosen
 */
export function listMisplaced(root, chosen) {
  const countIn = ({ file, from }) => {
    const path = join(root, file);
    return existsSync(path) ? readFileSync(path, 'utf8').split(from).length - 1 : 0;
  };
  return chosen.filter((fault) => countIn(fault) !== 1);
}
