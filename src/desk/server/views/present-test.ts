import { inspect } from 'node:util';
import {
  type BodyField,
  type Breadcrumb,
  explainReactError,
  MAX_BREADCRUMBS,
  type RequestRecord,
  toAddress,
} from '#engine/tracker';
import type { TestShape } from '../../shared/shapes.ts';
import type { StoredFailure } from '../store/records.ts';
import { hasGap, sampleOf, toComment, toLiteral, toSitePath } from './test-values.ts';

/** Headers that supertest sets from the body, or that only browsers set. */
const UNSET_HEADERS = /^(?:content-|sec-fetch-|purpose$)/i;
/** Values of `accept` and `accept-language` that say nothing about the failure. */
const USUAL_VALUES = /text\/html|^\*(?:\/\*)?$/;
/** Cookies of preferences, consent and analytics. Every other one can hold a session. */
const NO_SESSION = /^_(?:ga|gcl|gid|fb|hj|pk)|consent|theme|lang|locale/i;
/** A wait that is shorter than this is covered by the test's own waiting (ms), and a longer one is cut. */
const SHORTEST_WAIT = 1000;
const LONGEST_WAIT = 10_000;
/** Longest statement on one line (UTF-16 code units). */
const MAX_LINE = 118;

/** Why there is no test. */
export const NO_TEST =
  'A test cannot be written from this occurrence. Either it is not stored in full, or it follows from no request and no page.';

/** Gets sentences about parts that were not recorded. */
type Missing = Set<string>;

/**
 * Writes the test that fails in the same way as an occurrence, and passes when its bug is fixed. All text of visitors is
 * in comments of one line or in quoted strings.
 *
 * @returns undefined if the failure follows from no request and no page, such as the death of a process
 */
export function presentTest(failure: StoredFailure): TestShape | undefined {
  try {
    return writeTest(failure);
  } catch (error) {
    // Strangers can report anything, and must not hide the rest of an incident.
    return { file: toFile(failure), text: toComment(`The desk could not write this test: ${error}`), missing: [] };
  }
}

function toFile({ digest }: StoredFailure): string {
  return `tests/product/failures/${digest}.test.ts`;
}

function writeTest(failure: StoredFailure): TestShape | undefined {
  const { side, kind, origin, digest, request } = failure;
  if (!request || !/^(?:exception|hydration|network|timeout)$/.test(kind) || origin === 'process') return undefined;
  const missing: Missing = new Set();
  const [test, imports] = side === 'browser' ? (['test', IN_BROWSER] as const) : (['it', ON_SERVER] as const);
  const { header, lines: session } = toSession(failure, request, missing);
  const lines =
    side === 'server'
      ? toRequest(failure, request, missing, header)
      : kind === 'hydration'
        ? toBothSides(failure, toSitePath(request.url), header)
        : toVisit(failure, toSitePath(request.url), missing, header);
  const name = `${side === 'server' ? `${request.method} ` : ''}${toSitePath(request.url)} does not fail with ${digest}`;
  const text = `${imports(failure)}
${describe(failure).map(toComment).join('\n')}
${test}(${toLiteral(name)}, async () => {
${[...[...missing].map((words) => toComment(`TODO: ${words}`)), ...session, ...lines].join('\n').replaceAll(/^/gm, '  ')}
});
`;
  return { file: toFile(failure), text, missing: [...missing] };
}

const ON_SERVER = () => `import request from 'supertest';
import { expect, it } from 'vitest';
import { openApp } from '../../support/product/open-app.ts';
`;

// Servers usually run in this time zone, unlike the machines of developers.
const IN_BROWSER = ({ kind }: StoredFailure) => `import { expect, test } from 'vitest';
import { useSite } from '../../e2e/site.ts';

const site = useSite(${kind === 'hydration' ? "async () => ({ TZ: 'UTC' })" : ''});
`;

/** Says in a few lines what failed, for the reader of the test. */
function describe(failure: StoredFailure): string[] {
  const { title, location, errors, resolved } = failure;
  const cause = errors.at(-1);
  const own = resolved?.flat().find((frame) => frame.own && frame.file === location?.path);
  return [
    explainReactError(title) ?? title,
    ...(cause && errors.length > 1 ? [`caused by ${cause.class}: ${cause.message}`] : []),
    ...(location
      ? [`at ${location.path}${own ? `:${own.line}` : ''}${location.function && `, ${location.function}`}`]
      : []),
    `The desk has the full story: npm run desk -- ${toAddress(failure)}`,
  ];
}

/**
 * Returns the header that can hold the session, and lines that fail until it is set. Without a session, a guard redirects
 * or refuses the request, and the test would pass.
 */
function toSession({ side }: StoredFailure, { credentials = [] }: RequestRecord, missing: Missing) {
  const names = credentials.filter((name) => !NO_SESSION.test(name));
  const cookie = names.find((name) => name !== 'authorization');
  const header = cookie ? 'cookie' : side === 'server' ? names[0] : undefined;
  const todo = header
    ? `Set \`${header}\` to the session of a visitor with access. In an app with accounts, startSession() and, in a browser, signInAt() return it (tests/support/product/visitor.ts).`
    : 'If this test passes, add them.';
  if (credentials.length > 0) missing.add(`The values of ${credentials.join(', ')} are never recorded. ${todo}`);
  if (!header) return { lines: [] };
  const [empty, value] =
    side === 'server' ? ["''", header] : [`{ name: ${toLiteral(cookie)}, value: '', url: site.url }`, 'cookie.value'];
  const hint = `'Set \`${header}\` above. If this failure needs no session, delete this line.'`;
  return { header, lines: [`const ${header} = ${empty};`, `expect(${value}, ${hint}).not.toBe('');`] };
}

const OTHER_VISITOR = "'The signed-in visitor cannot open this page.'";
const NO_ROWS = "'Rows are missing that this request needs. If 404 is right, delete this line.'";
/** A request without a session, a signature or valid values does not reach the bug. */
const NOT_REFUSED = [
  "const hint = 'The request was refused before the bug. Sign in, or send what the handler accepts, such as a valid signature. If this status is right, delete this line.';",
  'expect([400, 401, 403, 422], hint).not.toContain(status);',
  "expect(headers.location ?? '', 'Sign in first.').not.toMatch(/sign-?in|log-?in/i);",
];

/** Writes a request of supertest. */
function toRequest(failure: StoredFailure, request: RequestRecord, missing: Missing, header?: string): string[] {
  const { method, url, headers = {}, body } = request;
  const set = Object.entries(headers).filter(([name, value]) => !UNSET_HEADERS.test(name) && !USUAL_VALUES.test(value));
  const calls = [`${method.toLowerCase()}(${toLiteral(url)})`];
  if (set.length > 0) calls.push(`set(${toLiteral(Object.fromEntries(set))})`);
  const { 'content-type': type = '', 'content-length': length = '0' } = headers;
  // Express 4 gives a request without a body an empty one.
  if (body !== undefined && type) calls.push(...toBody(body, type, missing));
  else if (Number(length) > 0) {
    if (type && !type.startsWith('multipart/')) calls.push(`type(${toLiteral(type)})`);
    missing.add('The body was not recorded. Add it with .send().');
  }
  if (header) calls.push(`set({ ${header} })`);
  if (hasGap(url)) missing.add('A part of the URL was not recorded. Replace it.');
  const fetches = toFetches(failure, missing);
  const broken = failure.errors.find(({ code }) => code !== undefined && !code.startsWith('ERR_'));
  if (broken && fetches.length === 0) {
    missing.add(`If this test passes, give openApp() \`services\` that fail with ${broken.code}: ${broken.message}`);
  } else {
    missing.add(
      'Rows of your database are not recorded. If this test passes before the fix, give openApp() `services` with rows.',
    );
  }
  const isGuarded = method === 'GET' && header !== undefined;
  const start = `const { status${isGuarded ? '' : ', headers'} } = await request(app)`;
  const line = `${start}.${calls.join('.')};`;
  return [
    `const { app, failures } = await openApp(${fetches.length > 0 ? toLiteral({ fetches: Object.fromEntries(fetches) }) : ''});`,
    line.length < MAX_LINE ? line : `${[start, ...calls].join('\n.').replaceAll('\n', '\n  ')};`,
    'expect(await failures()).toEqual([]);',
    `expect(status, ${NO_ROWS}).not.toBe(404);`,
    ...(isGuarded ? [`expect(status, ${OTHER_VISITOR}).toBeLessThan(300);`] : NOT_REFUSED),
  ];
}

function toBody(body: BodyField, type: string, missing: Missing): string[] {
  const guessed: string[] = [];
  const value = sampleOf(body, guessed);
  if (guessed.length > 0) {
    missing.add(`The values of ${guessed.join(', ')} were not recorded. If this test passes, try others.`);
  }
  if (type.includes('json')) return [`send(${toLiteral(value)})`];
  if (!type.startsWith('multipart/')) return ["type('form')", `send(${toLiteral(value)})`];
  return Object.entries(value as object).map(([name, field]) => {
    const isFile = typeof body === 'object' && 'fields' in body && body.fields[name] === 'file';
    return isFile
      ? `attach(${toLiteral(name)}, Buffer.from('text'), 'file.txt')`
      : `field(${toLiteral(name)}, ${toLiteral(field)})`;
  });
}

const ANSWER = { [inspect.custom]: () => '() => Response.json({})' };

/** Repeats the responses of other servers, which a test cannot ask. */
function toFetches({ breadcrumbs: trail = [], errors }: StoredFailure, missing: Missing): [string, unknown][] {
  const code = errors.findLast((error) => error.code)?.code ?? 'ECONNREFUSED';
  const fetches = new Map<string, unknown>();
  for (const { category, message, data } of trail) {
    if (category !== 'fetch' || !/^[A-Z]+ https?:/.test(message)) continue;
    const status = typeof data?.status === 'number' ? data.status : code;
    const isAnswer = typeof status === 'number' && status < 300;
    fetches.set(message, isAnswer ? ANSWER : status);
    if (isAnswer) missing.add(`The response to ${message} was not recorded. Replace the empty object.`);
  }
  return [...fetches];
}

/** Writes the steps of a visitor. */
function toVisit(
  { at, breadcrumbs: trail = [] }: StoredFailure,
  target: string,
  missing: Missing,
  session?: string,
): string[] {
  const steps = toSteps(trail, missing);
  const first = trail.find(({ category }) => category === 'navigation');
  const start = toSitePath(String(first?.data?.from ?? target));
  if (steps.length === 0)
    missing.add(
      'Cookies, storage, rows and the time before the failure are not recorded. If this test passes before the fix, add them, or wait with `page.waitForTimeout()`.',
    );
  if (trail.length === MAX_BREADCRUMBS) missing.add('There are more steps before these, which were not recorded.');
  if ([start, ...steps].some(hasGap)) missing.add('A part of the steps was not recorded. Replace it.');
  const routes = toRoutes(trail).map((line) => `\n    ${line}`);
  const before = `{${session ? '\n  cookie,' : ''}\n  before: async (page) => {${routes.join('')}\n  },\n}`;
  const options = routes.length > 0 ? `, ${before}` : session ? ', { cookie }' : '';
  const { pathname } = new URL(start, 'http://site.invalid');
  const wait = Math.min(at - (trail.at(-1)?.at ?? at), LONGEST_WAIT);
  const isLate = wait >= SHORTEST_WAIT;
  return [
    `const { ${steps.length > 0 || session || isLate ? 'page, ' : ''}failures } = await site.open(${toLiteral(start)}${options});`,
    ...(session ? [`expect(new URL(page.url()).pathname, ${OTHER_VISITOR}).toBe(${toLiteral(pathname)});`] : []),
    ...steps,
    ...(isLate ? [`await page.waitForTimeout(${Math.ceil(wait / 500) * 500});`] : []),
    'expect(await failures()).toEqual([]);',
  ];
}

const COOKIE = { [inspect.custom]: () => 'cookie' };

/** Shows the page without scripts, which is the server's, next to the page that the browser has hydrated. */
function toBothSides({ extra }: StoredFailure, path: string, session?: string): string[] {
  const { locale, timezone: timezoneId } = Object(Object(extra?.contexts).culture) as Record<string, unknown>;
  const cookie = session && { cookie: COOKIE };
  const culture = { ...JSON.parse(JSON.stringify({ locale, timezoneId })), ...cookie };
  return [
    `const server = await site.open(${toLiteral(path)}, ${toLiteral({ javaScriptEnabled: false, ...cookie })});`,
    `const browser = await site.open(${toLiteral(path)}, ${toLiteral(culture)});`,
    'const failures = await browser.failures();',
    '// The difference between the two texts is the cause.',
    "const [rendered, hydrated] = await Promise.all([server, browser].map(({ page }) => page.innerText('body')));",
    'if (failures.length > 0) expect.soft(hydrated).toBe(rendered);',
    'expect(failures).toEqual([]);',
  ];
}

function toSteps(trail: readonly Breadcrumb[], missing: Missing): string[] {
  return trail.flatMap(({ category, message, data }) => {
    const element = `await page.locator(${toLiteral(message)})`;
    if (category === 'ui.click') return [`${element}.click();`];
    if (category === 'ui.input') {
      missing.add(`The input of ${message} was not recorded. If this test passes, try others.`);
      return [`${element}.fill(${toLiteral(sampleOf('string', [], `${message} ${data?.type}`))});`];
    }
    const isMove = category === 'navigation' && data?.to !== undefined;
    return isMove ? [`await page.waitForURL(${toLiteral(`**${toSitePath(String(data.to))}`)});`] : [];
  });
}

/** Repeats requests that failed, because the servers behind them work in a test. */
function toRoutes(trail: readonly Breadcrumb[]): string[] {
  const routes = new Map<string, string>();
  for (const { category, data: { url, status_code } = {} } of trail) {
    const status = Number(status_code ?? 0);
    if (category !== 'fetch' || url === undefined || (status > 0 && status < 500)) continue;
    const answer = status > 0 ? `fulfill({ status: ${status}, json: {} })` : 'abort()';
    const path = toSitePath(String(url));
    routes.set(path, `await page.route(${toLiteral(`**${path}`)}, (route) => route.${answer});`);
  }
  return [...routes.values()];
}
