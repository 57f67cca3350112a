import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { findDesk } from '../../build/apps.mjs';
import { CommandError } from '../command.mjs';

const desk = findDesk(join(import.meta.dirname, '../..'));

/** First path segments that the engine handles before any page. No page of this command begins with `_`. */
const RESERVED = ['api', 'assets', 'livez', 'readyz', 'metrics', ...desk.apps.map(({ name }) => name)];

/** Irregular singulars: many:one. */
const SINGULARS = new Map(
  'buses:bus children:child cookies:cookie men:man movies:movie news:news people:person series:series species:species statuses:status women:woman'
    .split(' ')
    .map((pair) => pair.split(':')),
);

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/**
 * Parses a page's path. The id consists of the static segments. A segment before a parameter becomes singular, because
 * the page shows a single item: `/orders/:id/edit` becomes `order-edit`. One that is singular already is followed by the
 * parameter: `/blog/:slug` becomes `blog-slug`. Optional parameters, such as a language, count for neither.
 *
 * @param {string} path
 * @throws CommandError
 */
export function parsePagePath(path) {
  const segments = path.split('/').filter((segment) => segment !== '' && !segment.endsWith('?'));
  const [first = ''] = segments;
  if (RESERVED.includes(first.toLowerCase()))
    throw new CommandError(
      `Spillway answers all paths that begin with /${first}, so a page there would never be shown.`,
    );
  if (!/^(?:\/|(?:\/(?::[A-Za-z_]\w*\??|[A-Za-z0-9][\w-]*))+)$/.test(path)) {
    throw new CommandError(
      `"${path}" is not a path that this command can add. Use /words, /:parameters and /:optional? ones, such as /orders/:id. Add others manually.`,
    );
  }
  const params = segments.filter((segment) => segment.startsWith(':')).map((segment) => segment.slice(1));
  return { path, id: toPageId(segments), params };
}

/**
 * @param {string} resource
 * @throws CommandError
 */
export function parseResource(resource) {
  if (NAME.test(resource) && !/^\d/.test(resource)) return resource;
  throw new CommandError(
    `"${resource}" is not a valid name for a resource. Use lowercase letters and digits, with - between words. For example, gauges gets the path /api/gauges.`,
  );
}

function toPageId(segments) {
  if (segments.length === 0) return 'home';
  const words = segments.flatMap((segment, index) => {
    const previous = segments[index - 1];
    if (!segment.startsWith(':')) return [segments[index + 1]?.startsWith(':') ? toOne(segment) : segment];
    return previous && !previous.startsWith(':') && toOne(previous) !== toKebab(previous) ? [] : [segment.slice(1)];
  });
  return words.map(toKebab).join('-');
}

const toOne = (segment) => toSingular(toKebab(segment));

/** Turns `orders` into `order` and `water-levels` into `water-level`. Unknown words stay as they are. */
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

/** Turns `order-item` into `Order item`. */
export function toWords(name) {
  const words = name.replaceAll('-', ' ');
  return words[0].toUpperCase() + words.slice(1);
}

/** Turns `order-item` into `orderItem`. */
export function toCamel(name) {
  return name.replace(/-(\w)/g, (_dash, letter) => letter.toUpperCase());
}

/** Turns `order-item` into `OrderItem`. */
export function toPascal(name) {
  return toCamel(`-${name}`);
}

/**
 * Returns a valid constant name for a page's server file: `static` becomes `staticPage`, `404` becomes `page404`.
 *
 * @param {readonly string[]} used names that the written files use themselves
 */
export function toConstName(id, used, suffix = 'Page') {
  const name = toCamel(id);
  if (/^\d/.test(name)) return `page${name}`;
  return isReserved(name) || used.includes(name) ? name + suffix : name;
}

function isReserved(name) {
  return parseSync('name.ts', `export const ${name} = 1;`, { showSemanticErrors: true }).errors.length > 0;
}

/** Returns a name for a component or type that does not shadow a global: `map` becomes `MapPage`. */
export function toTypeName(name, suffix) {
  const pascal = toPascal(name);
  if (/^\d/.test(pascal)) return suffix + pascal;
  return pascal in globalThis ? pascal + suffix : pascal;
}
