import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseSync } from 'oxc-parser';

// `npm run reference` writes docs/reference.md from the public indexes: names, doc comments and types.

const indexes = {
  '#engine': ['src/shared/engine/index.ts', 'For pages and components.'],
  '#engine/server': ['src/server/engine/index.ts', 'For loaders, actions, the API and other server code.'],
  '#engine/testing': ['tests/support/testing.ts', 'For tests of a product.'],
};

/** @returns {string} the text of docs/reference.md */
export function writeReference(root) {
  const parse = createParser(root);
  const paths = Object.values(indexes).map(([path]) => path);
  const known = new Set(paths.flatMap((path) => parse(path).exported.map(({ name }) => name)));
  const sections = Object.entries(indexes).map(([index, [path, about]]) => {
    const names = parse(path).exported.map(({ name, from }) => ({
      name,
      file: parse(posix.join(posix.dirname(path), from)),
    }));
    const sorted = names.sort((one, other) => (one.name.toLowerCase() < other.name.toLowerCase() ? -1 : 1));
    return [`## ${index}`, about, ...sorted.map(({ name, file }) => writeEntry(name, file, known))].join('\n\n');
  });
  const head = `# Reference\n\nThe public API of Spillway, generated from the sources by \`npm run reference\`. Anything that is not listed here can change with every version.`;
  return `${[head, ...sections].join('\n\n')}\n`;
}

function createParser(root) {
  const parsed = new Map();
  return function parse(path) {
    if (!parsed.has(path)) parsed.set(path, parseFile(path, readFileSync(join(root, path), 'utf8')));
    return parsed.get(path);
  };
}

function parseFile(path, source) {
  const { program, comments, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0].message}`);
  const exported = [];
  const declared = new Map();
  for (const statement of program.body) {
    const { source: from, specifiers = [] } = statement;
    if (statement.type === 'ExportNamedDeclaration' && from)
      exported.push(...specifiers.map(({ exported: { name } }) => ({ name, from: from.value })));
    const declaration = statement.declaration ?? statement;
    const name = declaration.id?.name ?? declaration.declarations?.[0].id.name;
    if (name)
      declared.set(name, {
        declaration,
        doc: readDoc(source, comments, statement.start),
      });
  }
  return { path, source, exported, declared };
}

/** Returns the comment directly before a statement. */
function readDoc(source, comments, start) {
  const found = comments.findLast(
    ({ type, end }) => type === 'Block' && source.slice(end, start).trim() === '' && end <= start,
  );
  if (!found?.value.startsWith('*')) return '';
  const lines = found.value.slice(1).split('\n');
  return lines
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
}

function writeEntry(name, file, known) {
  const { doc } = find(name, file);
  if (!doc)
    throw new Error(`${name} in ${file.path} is public but has no doc comment. Add one that says more than the name.`);
  return [
    `### ${name}`,
    toMarkdown(doc),
    `\`\`\`ts\n${listTypes(name, file, new Set(known)).join('\n\n')}\n\`\`\``,
  ].join('\n\n');
}

/** Returns a declaration and the types of its file that it uses, without conditional ones and those with an own entry. */
function listTypes(name, file, seen) {
  seen.add(name);
  const text = toSignature(find(name, file).declaration, file.source);
  const named = [...file.declared].filter(([other, { declaration }]) => {
    const isShown = /^TS/.test(declaration.type) && declaration.typeAnnotation?.type !== 'TSConditionalType';
    return isShown && !seen.has(other) && new RegExp(`\\b${other}\\b`).test(text);
  });
  return [text, ...named.flatMap(([other]) => (seen.has(other) ? [] : listTypes(other, file, seen)))];
}

function find(name, file) {
  const found = file.declared.get(name);
  if (!found) throw new Error(`${file.path} does not declare ${name}.`);
  return found;
}

/** Returns a declaration without its body. */
function toSignature(node, source) {
  if (node.type === 'FunctionDeclaration') return source.slice(node.start, node.body.start).trim();
  if (node.type === 'ClassDeclaration') {
    const members = node.body.body.map((member) => {
      const end = member.value?.body?.start ?? (member.value ? member.value.start : member.end);
      return `  ${source
        .slice(member.start, end)
        .replace(/\s*=?\s*$/, '')
        .replace(/;$/, '')};`;
    });
    return `${source.slice(node.start, node.body.start)}{\n${members.join('\n')}\n}`;
  }
  if (node.type === 'VariableDeclaration') {
    const [{ id, init }] = node.declarations;
    // Of a table, the names are enough.
    const isTable = init.type.startsWith('TSSatisfies') && init.expression.type === 'ObjectExpression';
    const value = isTable
      ? `{ ${init.expression.properties.map(({ key }) => key?.name ?? '…').join(', ')} }`
      : source.slice(init.start, init.end);
    const type = id.typeAnnotation ? '' : ` = ${value}`;
    return `const ${source.slice(id.start, id.end)}${type}`;
  }
  return source.slice(node.start, node.end);
}

/** Turns the tags of a doc comment into list items. */
function toMarkdown(doc) {
  const [text = '', ...tags] = doc.split(/(?:^|\s)@(?=(?:param|returns|throws)\b)/);
  const lines = tags.map((tag) => {
    const [, kind, rest] = /^(\w+)\s+([\s\S]*)$/.exec(tag.trim()) ?? ['', tag, ''];
    const words = rest.replaceAll('\n', ' ');
    return kind === 'param' ? `- ${words.replace(/^(\w+)/, '`$1`:')}` : `- ${kind}: ${words}`;
  });
  return [text.trim(), lines.join('\n')].filter(Boolean).join('\n\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..');
  writeFileSync(join(root, 'docs/reference.md'), writeReference(root));
}
