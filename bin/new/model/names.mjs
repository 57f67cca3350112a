import { parseName, parsePagePath, Refusal, toCamel, toPascal, toPlural, toSingular, toWords } from '../names.mjs';

/** Names that the written files use themselves. */
const USED = new Set(['account', 'field', 'form', 'page', 'user', 'visitor', 'static', 'new', 'link', 'operation']);

/**
 * All spellings of a model's name: `order-item` is `orderItem` in code and `order_items` in the database.
 *
 * @param {string} name
 * @throws Refusal
 */
export function toModelNames(name) {
  const one = parseName(name);
  const many = toPlural(one);
  if (USED.has(one) || one in globalThis || toSingular(many) !== one) {
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
