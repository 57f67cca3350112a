import { parseSync } from 'oxc-parser';

/**
 * Creates the next release of a module. It adds lines, functions and classes between the existing ones, and methods
 * to the classes. Existing code does not change.
 *
 * @param {string} path
 * @param {string} text
 */
export function toNextRelease(path, text) {
  const { program } = parseSync(path, text);
  const additions = [];
  let count = 0;
  for (const statement of program.body) {
    if (statement.type === 'ImportDeclaration') continue;
    count += 1;
    additions.push({ at: statement.start, text: toAddition(count) });
    const { body } = (statement.declaration ?? statement).body ?? {};
    if (!/^Class/.test((statement.declaration ?? statement).type)) continue;
    for (const member of body) {
      count += 1;
      additions.push({ at: member.start, text: `added${count}(value) {\n    return [value, ${count}];\n  }\n\n  ` });
    }
  }
  let next = text;
  for (const { at, text: added } of additions.reverse()) next = next.slice(0, at) + added + next.slice(at);
  return `${'// A line more.\n'.repeat(10)}${next}`;
}

/** Has a side effect, so that no bundler removes it. */
function toAddition(count) {
  return `(globalThis.added ??= []).push(
  function added${count}(value) {
    if (value > ${count}) throw new RangeError('added ${count}');
    return value.total.amount;
  },
  class Added${count} { amount = ${count}; },
);

`;
}
