/** A request that cannot be met, in a sentence for whoever made it. */
export class Refusal extends Error {}

/** The engine answers below these before a page is asked. */
const RESERVED = ['api', '_data', 'assets', '_dev', '_report', 'desk', 'livez', 'readyz', 'metrics'];

/** Words that no rule finds the singular of. */
const SINGULARS = new Map(
  Object.entries({
    buses: 'bus',
    children: 'child',
    cookies: 'cookie',
    men: 'man',
    movies: 'movie',
    news: 'news',
    people: 'person',
    series: 'series',
    species: 'species',
    statuses: 'status',
    women: 'woman',
  }),
);

/** Words that JavaScript keeps for itself, where a module declares a name. */
const KEYWORDS = new Set(
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield'.split(
    ' ',
  ),
);

/**
 * Reads a page's path. The id is made of its fixed segments; the one before a parameter is singular,
 * because the page shows one of them: `/orders/:id/edit` is `order-edit`.
 *
 * @param {string} path
 * @param {string} [givenId]
 * @throws Refusal
 */
export function parsePagePath(path, givenId) {
  if (!path.startsWith('/')) throw new Refusal(`A page's path starts with a slash: "/${path}", not "${path}".`);
  if (path !== '/' && path.endsWith('/'))
    throw new Refusal(`A page has one address, without a slash at the end: "${path.replace(/\/+$/, '') || '/'}".`);
  const segments = path === '/' ? [] : path.slice(1).split('/');
  for (const segment of segments) {
    if (/^:[A-Za-z_]\w*$/.test(segment) || /^[A-Za-z0-9][\w-]*$/.test(segment)) continue;
    if (RESERVED.includes(segment)) continue; // told below, with the reason
    throw new Refusal(
      segment === ''
        ? `The path "${path}" has a doubled slash. Write each segment once.`
        : `The path "${path}" has a segment, "${segment}", that is neither a word (letters, digits, - and _) nor a :parameter. Add such a page by hand.`,
    );
  }
  const [first = ''] = segments;
  if (RESERVED.includes(first.toLowerCase()))
    throw new Refusal(
      `What begins with /${first} is the engine's: a page there would never be asked. Choose another path.`,
    );
  const params = segments.filter((segment) => segment.startsWith(':')).map((segment) => segment.slice(1));
  if (new Set(params).size < params.length)
    throw new Refusal(`The path "${path}" has two parameters of one name. Give each a name of its own.`);
  const id = givenId ?? toPageId(segments);
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(id))
    throw new Refusal(`"${id}" is no id for a page. Use small letters and digits, with - between words.`);
  return { path, id, params };
}

/**
 * @param {string} resource
 * @throws Refusal
 */
export function parseResource(resource) {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(resource)) {
    throw new Refusal(
      `"${resource}" is no name for a resource. Use one word in small letters, with - where it needs it, such as gauges: it gets the path /api/gauges.`,
    );
  }
  if (resource === 'desk') throw new Refusal("/api/desk is the engine's. Choose another name.");
  return resource;
}

function toPageId(segments) {
  if (segments.length === 0) return 'home';
  const words = segments.flatMap((segment, index) => {
    const previous = segments[index - 1];
    if (segment.startsWith(':')) return previous && !previous.startsWith(':') ? [] : [segment.slice(1)];
    return [segments[index + 1]?.startsWith(':') ? toSingular(toKebab(segment)) : segment];
  });
  return words.map(toKebab).join('-');
}

/** `orders` is `order`, `water-levels` is `water-level`; what it does not know it leaves. */
export function toSingular(name) {
  const start = name.lastIndexOf('-') + 1;
  return name.slice(0, start) + toSingularWord(name.slice(start));
}

function toSingularWord(word) {
  const known = SINGULARS.get(word);
  if (known) return known;
  if (/[^aeiou]ies$/.test(word) && word.length > 4) return word.replace(/ies$/, 'y');
  if (/(?:x|ch|sh|ss)es$/.test(word)) return word.slice(0, -2);
  return /s$/.test(word) && !/(?:ss|us|is)$/.test(word) && word.length > 2 ? word.slice(0, -1) : word;
}

function toKebab(segment) {
  return segment
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .toLowerCase();
}

/** `order-item` is `Order item`. */
export function toWords(name) {
  const words = name.replaceAll('-', ' ');
  return words[0].toUpperCase() + words.slice(1);
}

/** `order-item` is `orderItem`. */
export function toCamel(name) {
  return name.replace(/-(\w)/g, (_dash, letter) => letter.toUpperCase());
}

/** `order-item` is `OrderItem`. */
export function toPascal(name) {
  return toCamel(`-${name}`);
}

/** A name for a page's server half, which a module may declare: `static` is `staticPage`, `404` is `page404`. */
export function toConstName(id) {
  const name = toCamel(id);
  if (/^\d/.test(name)) return `page${name}`;
  return KEYWORDS.has(name) ? `${name}Page` : name;
}

/** A name for a component or a type that hides nothing of the language: `map` is `MapPage`. */
export function toTypeName(name, suffix) {
  const pascal = toPascal(name);
  if (/^\d/.test(pascal)) return suffix + pascal;
  return pascal in globalThis ? pascal + suffix : pascal;
}
