import { inspect } from 'node:util';
import type { TestShape } from '../../../shared/desk/shapes.ts';
import { MAX_BREADCRUMBS } from '../../../shared/engine/limits.ts';
import { explainReactError } from '../../../shared/engine/rendering/react-errors.ts';
import { type BodyField, type Breadcrumb, toAddress } from '../../engine/errors/failure.ts';
import type { StoredFailure } from '../store/records.ts';
import { toClean } from '../terminal/clean-text.ts';
import { sampleOf } from './sample-values.ts';

/** Headers that supertest sets from the body, or that only browsers set. */
const UNSET_HEADERS = /^(?:content-|sec-fetch-|purpose$)/;
/** A wait that is shorter than this is covered by the test's own waiting (ms), and a longer one is cut. */
const SHORTEST_WAIT = 1000;
const LONGEST_WAIT = 10_000;
const MAX_LINE = 120;
/** Leaves room for the call around it. */
const LONGEST_LITERAL = 100;

/** Why there is no test. */
export const NO_TEST =
  'A test cannot be written from this occurrence. Either it is not stored in full, or it follows from no request and no page.';

/** The parts of a test that differ between kinds of failures. */
interface Draft {
  readonly imports: readonly string[];
  readonly name: string;
  readonly lines: readonly string[];
}

/**
 * Writes the test that fails in the same way as an occurrence, and passes when its bug is fixed. All text of visitors is
 * in comments of one line or in quoted strings.
 *
 * @returns undefined if the failure follows from no request and no page, such as the death of a process
 */
export function presentTest(failure: StoredFailure): TestShape | undefined {
  const missing: string[] = [];
  const draft = failure.side === 'browser' ? draftForBrowser(failure, missing) : draftForServer(failure, missing);
  if (!draft) return undefined;
  const text = [
    ...draft.imports,
    '',
    ...(failure.side === 'browser' ? [...toSite(failure), ''] : []),
    ...describe(failure).map(toComment),
    `${failure.side === 'browser' ? 'test' : 'it'}(${toLiteral(draft.name)}, async () => {`,
    ...draft.lines.map((line) => (line === '' ? line : `  ${line}`)),
    '});',
    '',
  ].join('\n');
  return { file: `tests/product/failures/${failure.digest}.test.ts`, text, missing };
}

/** Says in a few lines what failed, for the reader of the test. */
function describe(failure: StoredFailure): string[] {
  const { title, site, errors, resolved } = failure;
  const cause = errors.at(-1);
  const own = resolved?.flat().find((frame) => frame.own && frame.file === site?.path);
  const place = site && `${site.path}${own ? `:${own.line}` : ''}${site.function && `, ${site.function}`}`;
  return [
    explainReactError(title) ?? title,
    ...(cause && errors.length > 1 ? [`caused by ${cause.class}: ${cause.message}`] : []),
    ...(place ? [`at ${place}`] : []),
    `The desk has the whole story: npm run desk -- ${toAddress(failure)}`,
  ];
}

/** Writes a request of supertest. */
function draftForServer(failure: StoredFailure, missing: string[]): Draft | undefined {
  const { request, digest, origin } = failure;
  if (!request || /^(?:blocked-loop|unclean-death)$/.test(failure.kind) || origin === 'process') return undefined;
  const todo = createTodos(missing);
  const { method, url, headers = {}, credentials = [], body } = request;
  const set = Object.entries(headers).filter(([name, value]) => !UNSET_HEADERS.test(name) && !isUsual(name, value));
  const calls = [`${method === 'HEAD' ? 'head' : method.toLowerCase()}(${toLiteral(url)})`];
  if (set.length > 0) calls.push(`set(${toLiteral(Object.fromEntries(set))})`);
  if (body !== undefined) calls.push(...toBody(body, headers['content-type'] ?? '', todo));
  else if (Number(headers['content-length'] ?? 0) > 0) todo('The body was not recorded. Add it with .send().');
  if (credentials.length > 0) {
    todo(`The values of ${credentials.join(', ')} are never recorded. If this test passes, send them with .set().`);
  }
  if (hasGap(url)) todo('A part of the URL was not recorded. Replace it.');
  const fetches = toFetches(failure, todo);
  const broken = failure.errors.find(({ code }) => code !== undefined && !code.startsWith('ERR_'));
  if (broken && fetches.length === 0) {
    todo(`If this test passes, give openApp() \`services\` that fail with ${broken.code}: ${broken.message}`);
  }
  const options = fetches.length > 0 ? `{ fetches: ${toLiteral(Object.fromEntries(fetches))} }` : '';
  return {
    imports: [
      "import request from 'supertest';",
      "import { expect, it } from 'vitest';",
      "import { openApp } from '../../support/product/open-app.ts';",
    ],
    name: `${method} ${url.replace(/\?.*/s, '')} does not fail with ${digest}`,
    lines: [
      ...todo.lines(),
      ...`const { app, failures } = await openApp(${options});`.split('\n'),
      ...toChain('await request(app)', calls),
      'expect(await failures()).toEqual([]);',
    ],
  };
}

/** True for headers of every browser, which say nothing about the failure. */
function isUsual(name: string, value: string): boolean {
  return name === 'accept' ? /text\/html|^\*\/\*$/.test(value) : value === '*';
}

function toBody(body: BodyField, type: string, todo: Todos): string[] {
  const guessed: string[] = [];
  const value = sampleOf(body, guessed);
  if (guessed.length > 0) {
    todo(`The values of ${guessed.join(', ')} were not recorded. If this test passes, try others.`);
  }
  if (!type.startsWith('multipart/')) {
    return [...(type.includes('json') ? [] : [`type('form')`]), `send(${toLiteral(value)})`];
  }
  const fields = typeof body === 'object' && 'fields' in body ? Object.entries(body.fields) : [];
  return fields.map(([name, field]) =>
    field === 'file'
      ? `attach(${toLiteral(name)}, Buffer.from('text'), 'file.txt')`
      : `field(${toLiteral(name)}, ${toLiteral(sampleOf(field, [], name))})`,
  );
}

const ANSWER = { [inspect.custom]: () => '() => Response.json({})' };

/** Repeats the responses of other servers, which a test cannot ask. */
function toFetches({ breadcrumbs: trail = [], errors }: StoredFailure, todo: Todos): [string, unknown][] {
  const code = errors.findLast((error) => error.code)?.code ?? 'ECONNREFUSED';
  const fetches = new Map<string, unknown>();
  for (const { category, message, data } of trail) {
    if (category !== 'fetch' || !/^[A-Z]+ https?:/.test(message)) continue;
    const status = typeof data?.status === 'number' ? data.status : code;
    const isAnswer = typeof status === 'number' && status < 300;
    fetches.set(message, isAnswer ? ANSWER : status);
    if (isAnswer) todo(`The response to ${message} was not recorded. Replace the empty object.`);
  }
  return [...fetches];
}

const HELPERS = '../../e2e/site.ts';

/** Only the lines above the test of a browser differ between kinds of failures. */
function toSite({ kind }: StoredFailure): string[] {
  // Servers usually run in this time zone, unlike the machines of those who write tests.
  return kind === 'hydration' ? ["const site = useSite(async () => ({ TZ: 'UTC' }));"] : ['const site = useSite();'];
}

/** Writes the steps of a visitor. */
function draftForBrowser(failure: StoredFailure, missing: string[]): Draft | undefined {
  const { request, kind, digest, breadcrumbs: trail = [] } = failure;
  if (!request || !/^(?:exception|hydration|network|timeout)$/.test(kind)) return undefined;
  const todo = createTodos(missing);
  const target = toPath(request.url);
  const imports = ["import { expect, test } from 'vitest';", `import { useSite } from '${HELPERS}';`];
  if (kind === 'hydration') {
    return { imports, name: `${target} is the same on both sides (${digest})`, lines: toBothSides(failure, target) };
  }
  const steps = toSteps(trail, todo);
  const first = trail.find(({ category, data }) => category === 'navigation' && typeof data?.from === 'string');
  const start = toPath(String(first?.data?.from ?? target));
  if (trail.length === MAX_BREADCRUMBS) todo('There are more steps before these, which were not recorded.');
  if ([start, ...steps].some(hasGap)) todo('A part of the steps was not recorded. Replace it.');
  const before = toRoutes(trail);
  const wait = Math.min(failure.at - (trail.at(-1)?.at ?? failure.at), LONGEST_WAIT);
  return {
    imports,
    name: `${target} does not fail with ${digest}`,
    lines: [
      ...todo.lines(),
      ...(before.length > 0
        ? [
            `const { page, failures } = await site.open(${toLiteral(start)}, {`,
            '  before: async (page) => {',
            ...before.map((line) => `    ${line}`),
            '  },',
            '});',
          ]
        : [`const { ${steps.length > 0 ? 'page, ' : ''}failures } = await site.open(${toLiteral(start)});`]),
      ...steps,
      ...(wait >= SHORTEST_WAIT && steps.length > 0
        ? [`await page.waitForTimeout(${Math.ceil(wait / 500) * 500});`]
        : []),
      'expect(await failures()).toEqual([]);',
    ],
  };
}

/** Shows the page without scripts, which is the server's, next to the page that the browser has hydrated. */
function toBothSides({ extra }: StoredFailure, path: string): string[] {
  const { locale, timezone } = toCulture(extra);
  const options = {
    ...(locale !== undefined && { locale }),
    ...(timezone !== undefined && { timezoneId: timezone }),
  };
  const given = Object.keys(options).length > 0 ? `, ${toLiteral(options)}` : '';
  return [
    `const server = await site.open(${toLiteral(path)}, { javaScriptEnabled: false });`,
    `const browser = await site.open(${toLiteral(path)}${given});`,
    'const failures = await browser.failures();',
    '// The difference between the two texts is the cause.',
    "const [rendered, hydrated] = await Promise.all([server, browser].map(({ page }) => page.innerText('body')));",
    'if (failures.length > 0) expect.soft(hydrated).toBe(rendered);',
    'expect(failures).toEqual([]);',
  ];
}

function toCulture(extra: StoredFailure['extra']): { readonly locale?: string; readonly timezone?: string } {
  const { culture } = Object(extra?.contexts) as { culture?: unknown };
  const { locale, timezone } = Object(culture) as { locale?: unknown; timezone?: unknown };
  return {
    ...(typeof locale === 'string' && { locale }),
    ...(typeof timezone === 'string' && { timezone }),
  };
}

function toSteps(trail: readonly Breadcrumb[], todo: Todos): string[] {
  return trail.flatMap(({ category, message, data }) => {
    if (category === 'ui.click') return [`await page.locator(${toLiteral(message)}).click();`];
    if (category === 'ui.input') {
      const value = sampleOf('string', [], `${message} ${data?.type ?? ''}`);
      todo(`What was typed into ${message} was not recorded. If this test passes, try other values.`);
      return [`await page.locator(${toLiteral(message)}).fill(${toLiteral(value)});`];
    }
    if (category === 'navigation' && typeof data?.to === 'string') {
      return [`await page.waitForURL(${toLiteral(`**${toPath(data.to)}`)});`];
    }
    return [];
  });
}

/** Repeats requests that failed, because the servers behind them work in a test. */
function toRoutes(trail: readonly Breadcrumb[]): string[] {
  const routes = new Map<string, string>();
  for (const { category, data } of trail) {
    const { url, status_code: status } = data ?? {};
    if (category !== 'fetch' || typeof url !== 'string' || (typeof status === 'number' && status < 500)) continue;
    const answer = typeof status === 'number' && status > 0 ? `fulfill({ status: ${status}, json: {} })` : 'abort()';
    routes.set(url, `await page.route(${toLiteral(`**${toPath(url)}`)}, (route) => route.${answer});`);
  }
  return [...routes.values()];
}

function toPath(url: string): string {
  if (!URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** True if scrubbing or a limit has removed a part. */
function hasGap(text: string): boolean {
  return /\[redacted\]|%5Bredacted%5D|…/.test(text);
}

interface Todos {
  (words: string): void;
  readonly lines: () => string[];
}

function createTodos(missing: string[]): Todos {
  const add = (words: string) => void (missing.includes(words) || missing.push(words));
  return Object.assign(add, { lines: () => missing.map((words) => toComment(`TODO: ${words}`)) });
}

function toChain(start: string, calls: readonly string[]): string[] {
  const line = `${[start, ...calls].join('.')};`;
  if (calls.length < 3 && !line.includes('\n') && line.length < MAX_LINE - 2) return [line];
  return `${[start, ...calls].join('\n.').replaceAll('\n', '\n  ')};`.split('\n');
}

/** Writes a value as a literal. Escapes everything that could end a string or change how it looks. */
function toLiteral(value: unknown): string {
  const breakLength = typeof value === 'string' ? Number.POSITIVE_INFINITY : LONGEST_LITERAL;
  return inspect(value, { breakLength, depth: null, maxStringLength: null, maxArrayLength: null })
    .split('\n')
    .map(toClean)
    .join('\n');
}

function toComment(text: string): string {
  return `// ${toClean(text.replaceAll(/\s+/g, ' '))}`;
}
