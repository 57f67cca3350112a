import { runInNewContext } from 'node:vm';
import {
  parseName,
  parsePagePath,
  Refusal,
  toCamel,
  toConstName,
  toPascal,
  toPlural,
  toSingular,
  toWords,
} from '../names.mjs';

/** Names of the language, such as `Map`, which a type must not shadow. */
const BUILT_IN = new Set(runInNewContext('Object.getOwnPropertyNames(globalThis)'));

/** Names that the written files use themselves. */
const USED = new Set(
  'account action context database field fields form link new operation page param pick problem query request result service session static style test user visitor'.split(
    ' ',
  ),
);

/**
 * All spellings of a model's name: `order-item` is `orderItem` in code and `order_items` in the database.
 *
 * @param {string} name
 * @throws Refusal
 */
export function toModelNames(name) {
  const one = parseName(name);
  const many = toPlural(one);
  const isTaken = [one, many].some((name) => toConstName(name) !== toCamel(name) || name in globalThis);
  if (USED.has(one) || BUILT_IN.has(toPascal(one)) || isTaken || toSingular(many) !== one) {
    throw new Refusal(`A model cannot have the name "${one}". Choose another one, in the singular, such as note.`);
  }
  parsePagePath(`/${many}`);
  return {
    one,
    many,
    camel: { one: toCamel(one), many: toCamel(many) },
    Pascal: { one: toPascal(one), many: toPascal(many) },
    /** `a note` or `an order item`. */
    aOne: `${/^[aeiou]/.test(one) ? 'an' : 'a'} ${one.replaceAll('-', ' ')}`,
    words: { one: one.replaceAll('-', ' '), many: many.replaceAll('-', ' ') },
    Words: toWords(many),
    table: toCamel(many),
    sqlTable: many.replaceAll('-', '_'),
    ids: [many, `new-${one}`, one, `edit-${one}`],
  };
}
