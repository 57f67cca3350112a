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
import { toClean } from './clean-text.ts';

/** Headers that supertest sets from the body, or that only browsers set. */
const UNSET_HEADERS = /^(?:content-|sec-fetch-|purpose$)/i;
/** Values of `accept` and `accept-language` that say nothing about the failure. */
const USUAL_VALUES = /text\/html|^\*(?:\/\*)?$/;
/** A wait that is shorter than this is covered by the test's own waiting (ms), and a longer one is cut. */
const SHORTEST_WAIT = 1000;
const LONGEST_WAIT = 10_000;
/** Longest statement and literal on one line (UTF-16 code units). */
const MAX_LINE = 118;
const LONGEST_LITERAL = 100;

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
  const { side, kind, origin, digest, request } = failure;
  if (!request || !/^(?:exception|hydration|network|timeout)$/.test(kind) || origin === 'process') return undefined;
  const missing: Missing = new Set();
  const [test, imports] = side === 'browser' ? (['test', IN_BROWSER] as const) : (['it', ON_SERVER] as const);
  const lines =
    side === 'server'
      ? toRequest(failure, request, missing)
      : kind === 'hydration'
        ? toBothSides(failure, toPath(request.url))
        : toVisit(failure, toPath(request.url), missing);
  const { credentials = [] } = request;
  if (side === 'browser' && credentials.length > 0) {
    missing.add(
      `The values of ${credentials.join(', ')} are never recorded. If this test passes, or is asked to sign in, set them: site.open(path, { cookie }).`,
    );
  }
  const name = `${side === 'server' ? `${request.method} ` : ''}${toPath(request.url)} does not fail with ${digest}`;
  const text = `${imports(failure)}
${describe(failure).map(toComment).join('\n')}
${test}(${toLiteral(name)}, async () => {
${[...[...missing].map((words) => toComment(`TODO: ${words}`)), ...lines].join('\n').replaceAll(/^/gm, '  ')}
});
`;
  return { file: `tests/product/failures/${digest}.test.ts`, text, missing: [...missing] };
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

/** Writes a request of supertest. */
function toRequest(failure: StoredFailure, request: RequestRecord, missing: Missing): string[] {
  const { method, url, headers = {}, credentials = [], body } = request;
  const set = Object.entries(headers).filter(([name, value]) => !UNSET_HEADERS.test(name) && !USUAL_VALUES.test(value));
  const calls = [`${method.toLowerCase()}(${toLiteral(url)})`];
  if (set.length > 0) calls.push(`set(${toLiteral(Object.fromEntries(set))})`);
  const { 'content-type': type = '', 'content-length': length = '0' } = headers;
  if (body !== undefined) calls.push(...toBody(body, type, missing));
  else if (Number(length) > 0) {
    if (type && !type.startsWith('multipart/')) calls.push(`type(${toLiteral(type)})`);
    missing.add('The body was not recorded. Add it with .send().');
  }
  if (credentials.length > 0) {
    missing.add(
      `The values of ${credentials.join(', ')} are never recorded. If this test passes, add them with .set().`,
    );
  }
  if (hasGap(url)) missing.add('A part of the URL was not recorded. Replace it.');
  const fetches = toFetches(failure, missing);
  const broken = failure.errors.find(({ code }) => code !== undefined && !code.startsWith('ERR_'));
  if (broken && fetches.length === 0) {
    missing.add(`If this test passes, give openApp() \`services\` that fail with ${broken.code}: ${broken.message}`);
  }
  // Without the credentials, a guard can redirect the request, or refuse it, and the test would pass.
  const isGuarded = method === 'GET' && credentials.length > 0;
  const start = `${isGuarded ? 'const { status } = ' : ''}await request(app)`;
  const line = `${start}.${calls.join('.')};`;
  return [
    `const { app, failures } = await openApp(${fetches.length > 0 ? toLiteral({ fetches: Object.fromEntries(fetches) }) : ''});`,
    line.length < MAX_LINE ? line : `${[start, ...calls].join('\n.').replaceAll('\n', '\n  ')};`,
    'expect(await failures()).toEqual([]);',
    ...(isGuarded ? ['expect(status).toBeLessThan(300);'] : []),
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
function toVisit({ at, breadcrumbs: trail = [] }: StoredFailure, target: string, missing: Missing): string[] {
  const steps = toSteps(trail, missing);
  const first = trail.find(({ category }) => category === 'navigation');
  const start = toPath(String(first?.data?.from ?? target));
  if (steps.length === 0) missing.add('Cookies and storage are not recorded. If this test passes, set them.');
  if (trail.length === MAX_BREADCRUMBS) missing.add('There are more steps before these, which were not recorded.');
  if ([start, ...steps].some(hasGap)) missing.add('A part of the steps was not recorded. Replace it.');
  const routes = toRoutes(trail).map((line) => `\n    ${line}`);
  const before = routes.length > 0 ? `, {\n  before: async (page) => {${routes.join('')}\n  },\n}` : '';
  const wait = Math.min(at - (trail.at(-1)?.at ?? at), LONGEST_WAIT);
  return [
    `const { ${steps.length > 0 ? 'page, ' : ''}failures } = await site.open(${toLiteral(start)}${before});`,
    ...steps,
    ...(steps.length > 0 && wait >= SHORTEST_WAIT
      ? [`await page.waitForTimeout(${Math.ceil(wait / 500) * 500});`]
      : []),
    'expect(await failures()).toEqual([]);',
  ];
}

/** Shows the page without scripts, which is the server's, next to the page that the browser has hydrated. */
function toBothSides({ extra }: StoredFailure, path: string): string[] {
  const { locale, timezone: timezoneId } = Object(Object(extra?.contexts).culture) as Record<string, unknown>;
  const culture = toLiteral(JSON.parse(JSON.stringify({ locale, timezoneId })));
  return [
    `const server = await site.open(${toLiteral(path)}, { javaScriptEnabled: false });`,
    `const browser = await site.open(${toLiteral(path)}, ${culture});`,
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
    return isMove ? [`await page.waitForURL(${toLiteral(`**${toPath(String(data.to))}`)});`] : [];
  });
}

/** Repeats requests that failed, because the servers behind them work in a test. */
function toRoutes(trail: readonly Breadcrumb[]): string[] {
  const routes = new Map<string, string>();
  for (const { category, data: { url, status_code } = {} } of trail) {
    const status = Number(status_code ?? 0);
    if (category !== 'fetch' || url === undefined || (status > 0 && status < 500)) continue;
    const answer = status > 0 ? `fulfill({ status: ${status}, json: {} })` : 'abort()';
    const path = toPath(String(url));
    routes.set(path, `await page.route(${toLiteral(`**${path}`)}, (route) => route.${answer});`);
  }
  return [...routes.values()];
}

/** Returns a path of the site under test. A stranger can report any URL, and a browser reads `//host` as another site. */
function toPath(url: string): string {
  const base = 'http://site.invalid';
  const { pathname, search } = new URL(URL.canParse(url, base) ? url : base, base);
  return `/${pathname.replace(/^\/+/, '')}${search}`;
}

/** True if scrubbing or a limit has removed a part. */
function hasGap(text: string): boolean {
  return /\[redacted\]|%5Bredacted%5D|\u2026|%E2%80%A6/.test(text);
}

/** Writes a value as a literal. Escapes everything that could end a string or change how it looks. */
function toLiteral(value: unknown): string {
  const breakLength = typeof value === 'string' ? Number.POSITIVE_INFINITY : LONGEST_LITERAL;
  return toClean(inspect(value, { breakLength, depth: null, maxStringLength: null, maxArrayLength: null }));
}

function toComment(text: string): string {
  return `// ${toClean(text.replaceAll(/\s+/g, ' '))}`;
}

/** Values that most checks of a field accept, by its name. */
const SAMPLES: readonly (readonly [name: RegExp, value: string])[] = [
  [/e-?mail/i, 'someone@example.com'],
  [/url|link|website/i, 'https://example.com/'],
  [/date|day$|\bfrom$|until/i, '2026-01-31'],
  [/count|quantity|amount|number|price|total|year|age$|(?:^|_)id$|Id$/, '1'],
];

/**
 * Returns a value for a field whose own value was not recorded.
 *
 * @param guessed gets the names of the fields that have such a value
 */
function sampleOf(field: BodyField, guessed: string[], name = ''): unknown {
  if (typeof field === 'object') {
    if ('value' in field) return field.value;
    if ('items' in field) return field.items.map((item) => sampleOf(item, guessed, name));
    return Object.fromEntries(
      Object.entries(field.fields).map(([key, inner]) => [
        key,
        sampleOf(inner, guessed, name ? `${name}.${key}` : key),
      ]),
    );
  }
  if (field === 'null') return null;
  guessed.push(name);
  if (field === 'number') return 1;
  if (field === 'boolean') return true;
  return SAMPLES.find(([pattern]) => pattern.test(name))?.[1] ?? 'text';
}
