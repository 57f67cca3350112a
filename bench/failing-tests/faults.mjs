// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code of a product

// 40 faults of a fixture product. Each has one line that is wrong (`broken`) and the same line without the fault
// (`fixed`), which replace FAULT in its code. `provoke` is what a visitor did.

/**
 * @typedef {object} Fault
 * @property {string} id of its page or API, which is under the same path
 * @property {string} what
 * @property {string} broken
 * @property {string} fixed
 * @property {string} [path] of the page; by default `/<id>`
 * @property {string} [view] the page's component
 * @property {string} [server] the members of the page's server half
 * @property {string} [api] the body of a function that adds handlers to `router`
 * @property {Record<string, string>} [files] other files
 * @property {{ url?: string, init?: RequestInit, steps?: (page: import('playwright-core').Page) => Promise<unknown>, context?: object }} provoke
 */

const SHOWN = 'export default function Page({ data }) { return <pre>{JSON.stringify(data)}</pre>; }';

const form = (fields) => ({ method: 'POST', body: new URLSearchParams(fields) });
const json = (body, method = 'POST') => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

function upload(fields) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return { method: 'POST', body };
}

/** @type {Fault[]} */
const inLoaders = [
  {
    id: 'person',
    path: '/person/:id',
    what: 'loader: a property of a missing record',
    server:
      'loader: ({ params }) => { const person = new Map([["1", { name: "Ada" }]]).get(params.id); return { name: FAULT }; }',
    broken: 'person.name',
    fixed: 'person?.name',
    provoke: { url: '/person/99' },
  },
  {
    id: 'list',
    what: 'loader: a class of its own, from a query',
    server:
      'loader: ({ request }) => { const page = Number(new URL(request.url).searchParams.get("page") ?? 1); if (FAULT) throw new PagingError(`There is no page ${page}.`); return { page }; }',
    files: { top: 'class PagingError extends Error { override name = "PagingError"; }' },
    broken: 'page < 1',
    fixed: 'Number.isNaN(page)',
    provoke: { url: '/list?page=0&sort=name' },
  },
  {
    id: 'price',
    what: 'loader: a rejection in another module',
    server: 'loader: async () => ({ total: await findPrice("EUR") })',
    files: {
      top: 'import { findPrice } from "../prices.ts";',
      'src/server/product/prices.ts':
        'const PRICES = new Map([["CHF", 3]]);\nexport async function findPrice(currency: string) {\n  await Promise.resolve();\n  const price = PRICES.get(currency);\n  if (FAULT) throw new Error(`No price in ${currency}.`);\n  return price ?? 0;\n}\n',
    },
    broken: 'price === undefined',
    fixed: 'currency === ""',
    provoke: { url: '/price' },
  },
  {
    id: 'weather',
    what: 'loader: another server answers 503',
    server:
      'loader: async ({ context }) => { const response = await context.fetch("OTHER_SERVER/weather?key=1"); if (!response.ok) FAULT; return { degrees: 3 }; }',
    broken: 'throw new Error(`The weather answered ${response.status}.`)',
    fixed: 'return { degrees: null }',
    provoke: { url: '/weather' },
  },
  {
    id: 'stock',
    what: 'loader: another server cannot be reached',
    server:
      'loader: async ({ context }) => { try { return { text: await (await context.fetch("CLOSED_SERVER/stock")).text() }; } catch (cause) { FAULT; } }',
    broken: 'throw new Error("The stock is not known.", { cause })',
    fixed: 'return { text: "" }',
    provoke: { url: '/stock' },
  },
  {
    id: 'rates',
    what: 'loader: another server answers what nobody expects',
    server:
      'loader: async ({ context }) => { const { rates } = await (await context.fetch("OTHER_SERVER/rates")).json(); return { euro: FAULT }; }',
    broken: 'rates.euro',
    fixed: 'rates?.euro',
    provoke: { url: '/rates' },
  },
  {
    id: 'any',
    what: 'loader: an AggregateError of Promise.any',
    server: 'loader: async () => ({ first: await FAULT })',
    broken: 'Promise.any([Promise.reject(new RangeError("one")), Promise.reject(new TypeError("two"))])',
    fixed: 'Promise.any([1])',
    provoke: { url: '/any' },
  },
  {
    id: 'service',
    what: 'loader: a service without its database',
    server: 'loader: async ({ context }) => ({ rows: await context.services.database.list() })',
    broken: 'connect(1)',
    fixed: '[]',
    provoke: { url: '/service' },
  },
  {
    id: 'kept',
    what: 'loader of a static page',
    mode: 'static',
    server: 'loader: () => ({ first: [].FAULT })',
    broken: 'at(0).name',
    fixed: 'at(0)?.name',
    provoke: { url: '/kept' },
  },
];

/** @type {Fault[]} */
const inGuardsAndActions = [
  {
    id: 'guarded',
    what: 'guard: a header that is missing',
    server: 'guard: ({ request }) => { if (FAULT === "never") throw new Error("never"); }, loader: () => ({})',
    broken: 'request.headers.get("x-tenant").trim()',
    fixed: 'request.headers.get("x-tenant")?.trim()',
    provoke: { url: '/guarded' },
  },
  {
    id: 'language',
    what: 'guard: a language that is not known',
    server: 'guard: ({ request }) => { new Intl.NumberFormat(FAULT); }, loader: () => ({})',
    broken: '(request.headers.get("accept-language") ?? "en").split(",")[0]',
    fixed: '"en"',
    provoke: { url: '/language', init: { headers: { 'accept-language': 'not_a_language' } } },
  },
  {
    id: 'session',
    what: 'guard: a session whose user is gone',
    server:
      'guard: ({ request }) => { const session = /sid=(\\w+)/.exec(request.headers.get("cookie") ?? "")?.[1]; const user = session ? undefined : { name: "guest" }; if (FAULT === "") throw new Error("empty"); }, loader: () => ({})',
    broken: 'user.name',
    fixed: 'user?.name',
    provoke: { url: '/session', init: { headers: { cookie: 'sid=abc123; theme=dark' } } },
  },
  {
    id: 'order',
    what: 'action: a value that `reporting.keep` lists',
    server:
      'loader: () => ({}), actions: { default: ({ form }) => { const count = Number(form.get("quantity")); return { rows: FAULT.length }; } }',
    broken: 'new Array(count - 10)',
    fixed: 'new Array(Math.max(0, count - 10))',
    provoke: { url: '/order', init: form({ quantity: '3', email: 'ada@example.org' }) },
  },
  {
    id: 'sign',
    what: 'action: any value of a field',
    server: 'loader: () => ({}), actions: { send: ({ form }) => ({ name: FAULT }) }',
    broken: 'String(form.get("name")).toTitleCase()',
    fixed: 'String(form.get("name")).toUpperCase()',
    provoke: { url: '/sign', init: form({ _action: 'sign.send', name: 'Ada', note: 'Hello' }) },
  },
  {
    id: 'search',
    what: 'action: a value that is not recorded',
    server: 'loader: () => ({}), actions: { default: ({ form }) => ({ found: new RegExp(FAULT).source }) }',
    broken: 'String(form.get("words"))',
    fixed: 'RegExp.escape(String(form.get("words")))',
    provoke: { url: '/search', init: form({ words: '(((' }) },
  },
  {
    id: 'picture',
    what: 'action: an uploaded file',
    server:
      'loader: () => ({}), actions: { default: async ({ form }) => { const file = form.get("picture"); return { type: FAULT }; } }',
    broken: 'file.type.split("/")[2].trim()',
    fixed: 'file.type',
    provoke: {
      url: '/picture',
      init: upload({ title: 'Me', picture: new File(['x'], 'me.png', { type: 'image/png' }) }),
    },
  },
];

/** @type {Fault[]} */
const inRenders = [
  {
    id: 'table',
    what: 'render: a property of missing data',
    server: 'loader: () => ({ rows: [{ total: 1 }, {}] })',
    view: 'export default function Page({ data }) { return <ul>{data.rows.map((row, index) => <li key={index}>{FAULT}</li>)}</ul>; }',
    broken: 'row.total.toFixed(2)',
    fixed: 'row.total?.toFixed(2)',
    provoke: { url: '/table' },
  },
  {
    id: 'deep',
    what: 'render: an endless recursion',
    view: 'function walk(tree, depth) { return FAULT ? [tree, ...walk(tree, depth + 1)] : []; }\nexport default function Page() { return <p>{walk("x", 0).length}</p>; }',
    broken: 'depth >= 0',
    fixed: 'depth < 3',
    provoke: { url: '/deep' },
  },
  {
    id: 'late',
    what: 'deferred value: the promise rejects',
    server:
      'loader: () => ({ late: Promise.resolve().then(() => { if (FAULT) throw new Error("The total is late."); return 3; }) })',
    view: 'export default function Page({ data }) { return <Await value={data.late} fallback={<i>wait</i>}>{(total) => <b>{total}</b>}</Await>; }',
    broken: 'Number("1") === 1',
    fixed: 'Number("1") === 2',
    provoke: { url: '/late' },
  },
  {
    id: 'latecomer',
    what: 'deferred value: its component fails',
    server: 'loader: () => ({ late: Promise.resolve([{ name: "Ada" }]) })',
    view: 'function Names({ of }) { return <b>{FAULT}</b>; }\nexport default function Page({ data }) { return <Await value={data.late} fallback={<i>wait</i>}>{(names) => <Names of={names} />}</Await>; }',
    broken: 'of[1].name',
    fixed: 'of[0].name',
    provoke: { url: '/latecomer' },
  },
];

/** @type {Fault[]} */
const inApi = [
  {
    id: 'things',
    what: 'API: a query',
    api: 'router.get("/things", (req, res) => { const sizes = { small: 1 }; res.json({ size: FAULT }); });',
    broken: 'sizes[req.query.size].toFixed(1)',
    fixed: 'sizes[req.query.size]?.toFixed(1)',
    provoke: { url: '/api/things?size=huge' },
  },
  {
    id: 'people',
    what: 'API: a field of the JSON is missing',
    api: 'router.post("/people", ...jsonBody({ limit: 10000 }), (req, res) => { res.json({ city: FAULT }); });',
    broken: 'req.body.address.city.toUpperCase()',
    fixed: 'req.body.address?.city?.toUpperCase() ?? null',
    provoke: { url: '/api/people', init: json({ name: 'Ada', tags: ['x'], age: 36 }) },
  },
  {
    id: 'money',
    what: 'API: a value that `reporting.keep` lists',
    api: 'router.put("/money/:id", ...jsonBody({ limit: 10000 }), (req, res) => { const { currency } = req.body; res.json({ text: new Intl.NumberFormat("en", { style: "currency", currency: FAULT }).format(1) }); });',
    broken: 'currency',
    fixed: '/^[A-Z]{3}$/.test(currency) ? currency : "EUR"',
    provoke: { url: '/api/money/7', init: json({ currency: 'euro', amount: 3 }, 'PUT') },
  },
  {
    id: 'notice',
    what: 'API: a promise that nobody awaits',
    api: 'router.post("/notice", (_req, res) => { void notify(); res.status(202).end(); });\nasync function notify() { await Promise.resolve(); if (FAULT) throw new Error("The notice was not sent."); }',
    broken: 'Number("1") === 1',
    fixed: 'Number("1") === 2',
    provoke: { url: '/api/notice', init: { method: 'POST' } },
  },
  {
    id: 'later',
    what: 'API: a timer after the response',
    api: 'router.get("/later", (_req, res) => { setTimeout(() => void sweep(), 200); res.json({}); });\nasync function sweep() { const rooms = []; await Promise.resolve(); return FAULT; }',
    broken: 'rooms[0].close()',
    fixed: 'rooms[0]?.close()',
    provoke: { url: '/api/later' },
  },
];

/** @type {Fault[]} */
const elsewhere = [
  {
    id: 'step',
    what: 'step: a header that cannot be read',
    broken: 'decodeURIComponent(req.query.step)',
    fixed: 'req.query.step',
    provoke: { url: '/api/things?size=small&step=%25' },
  },
  {
    id: 'feed',
    what: 'route outside of the pages',
    broken: 'entries[0].at.toISOString()',
    fixed: '""',
    provoke: { url: '/feed.xml' },
  },
  {
    id: 'job',
    what: 'a job outside of any request',
    broken: 'queue[0].run()',
    fixed: 'queue[0]?.run()',
    provoke: { url: '/' },
  },
];

const click = (name) => (page) => page.getByRole('button', { name }).click();

/** @type {Fault[]} */
const inBrowsers = [
  {
    id: 'button',
    what: 'browser: an event handler',
    view: 'export default function Page() { const [cart] = useState({}); return <p><button type="button">No</button><button type="button" onClick={() => FAULT}>Buy</button></p>; }',
    broken: 'cart.items.push(1)',
    fixed: 'cart.items?.push(1)',
    provoke: { steps: click('Buy') },
  },
  {
    id: 'effect',
    what: 'browser: an effect',
    view: 'export default function Page() { useEffect(() => { FAULT; }, []); return <p>effect</p>; }',
    broken: 'document.querySelector("#map").focus()',
    fixed: 'document.querySelector("#map")?.focus()',
    provoke: { steps: async () => {} },
  },
  {
    id: 'typing',
    what: 'browser: a handler that reads a field',
    view: 'export default function Page() { const [text, setText] = useState(""); return <p><input aria-label="Name" value={text} onChange={(event) => setText(event.target.value)} /><button type="button" onClick={() => FAULT}>Go</button></p>; }',
    broken: 'text.shout()',
    fixed: 'text.trim()',
    provoke: {
      async steps(page) {
        await page.getByLabel('Name').fill('Ada');
        await click('Go')(page);
      },
    },
  },
  {
    id: 'code',
    what: 'browser: a typed value that is not recorded',
    view: 'export default function Page() { const [text, setText] = useState("{}"); return <p><input aria-label="Code" value={text} onChange={(event) => setText(event.target.value)} /><button type="button" onClick={() => FAULT}>Run</button></p>; }',
    broken: 'text.startsWith("{") && JSON.parse(text)',
    fixed: 'text.length',
    provoke: {
      async steps(page) {
        await page.getByLabel('Code').fill('{broken');
        await click('Run')(page);
      },
    },
  },
  {
    id: 'answer',
    what: 'browser: a request that is answered with 500',
    view: 'export default function Page() { async function load() { const response = await fetch("/api/answer"); const { rows } = await response.json(); return FAULT; } return <button type="button" onClick={() => void load()}>Load</button>; }',
    api: 'router.get("/answer", (_req, res) => void res.status(process.env.ANSWER ? 500 : 200).json({ rows: process.env.ANSWER ? null : [] }));',
    broken: 'rows.length',
    fixed: 'rows?.length',
    provoke: { steps: click('Load') },
  },
  {
    id: 'offline',
    what: 'browser: a request that gets no response',
    view: 'export default function Page() { async function load() { await FAULT; } return <button type="button" onClick={() => void load()}>Load</button>; }',
    api: 'router.get("/offline", (_req, res) => void (process.env.ANSWER ? res.destroy() : res.json({})));',
    broken: 'fetch("/api/offline")',
    fixed: 'fetch("/api/offline").catch(() => undefined)',
    provoke: { steps: click('Load') },
  },
  {
    id: 'tab',
    what: 'browser: a query',
    view: 'export default function Page() { useEffect(() => { const tab = new URLSearchParams(location.search).get("tab"); if (FAULT) throw new Error(`There is no tab ${tab}.`); }, []); return <p>tabs</p>; }',
    broken: 'tab === "mail"',
    fixed: 'tab === ""',
    provoke: { url: '/tab?tab=mail', steps: async () => {} },
  },
  {
    id: 'journey',
    what: 'browser: after a navigation',
    view: 'export default function Page() { const name = typeof document === "undefined" || performance.getEntriesByType("navigation")[0].name.endsWith("/journey") ? "direct" : undefined; return <p>{FAULT}</p>; }',
    broken: 'name.length',
    fixed: 'name?.length',
    provoke: {
      url: '/',
      async steps(page) {
        await page.getByRole('link', { name: 'journey' }).click();
        await page.waitForURL('**/journey');
      },
    },
  },
  {
    id: 'timer',
    what: 'browser: a timer',
    view: 'export default function Page() { const [rooms] = useState([]); return <button type="button" onClick={() => setTimeout(() => FAULT, 1500)}>Wait</button>; }',
    broken: 'rooms[0].open()',
    fixed: 'rooms[0]?.open()',
    provoke: { steps: click('Wait') },
  },
  {
    id: 'stored',
    what: 'browser: something in the storage',
    view: 'export default function Page() { useEffect(() => { const text = localStorage.getItem("cart"); if (text) FAULT; }, []); return <p>cart</p>; }',
    broken: 'JSON.parse(text)',
    fixed: 'text.trim()',
    provoke: {
      async steps(page) {
        await page.evaluate(() => localStorage.setItem('cart', '{broken'));
        await page.reload();
      },
    },
  },
  {
    id: 'mismatch',
    what: 'hydration: the browser renders something else',
    view: 'export default function Page() { return <p>{FAULT}</p>; }',
    broken: 'typeof window === "undefined" ? "server" : "browser"',
    fixed: '"both"',
    provoke: { steps: async () => {} },
  },
  {
    id: 'clock',
    what: 'hydration: a time zone',
    view: 'export default function Page() { return <p>{new Date(0).toLocaleString("en", { timeZone: FAULT })}</p>; }',
    broken: 'undefined',
    fixed: '"UTC"',
    provoke: { steps: async () => {}, context: { timezoneId: 'Pacific/Auckland', locale: 'en-NZ' } },
  },
];

export const faults = [...inLoaders, ...inGuardsAndActions, ...inRenders, ...inApi, ...elsewhere, ...inBrowsers];

export { SHOWN };
