import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// From 0.1.0 to 0.2.0: `node bin/codemods/0.2.0.mjs` rewrites the files of your product and its tests.
// - Imports from files of the engine become imports from `#engine` or `#engine/server`.
// - Imports from other parts of your product become imports from `#product/`, `#product-server/` or `#product-client/`.
// - `Late` becomes `Await`, `oncePerVisit` becomes `oncePerRequest`, and `useActionOutcome` becomes `useActionResult`.
// - `Form` and `useActionOutcome` that came from the engine come from your `actions.ts`.
// Run `npm run format` afterwards to sort the imports.

const indexes = {
  '#engine': 'src/shared/engine/index.ts',
  '#engine/server': 'src/server/engine/index.ts',
  '#engine/testing': 'tests/support/testing.ts',
};
const products = {
  '#product/': 'src/shared/product/',
  '#product-server/': 'src/server/product/',
  '#product-client/': 'src/client/product/',
};
const renamed = {
  Late: 'Await',
  LateProps: 'AwaitProps',
  oncePerVisit: 'oncePerRequest',
  useActionOutcome: 'useActionResult',
  ActionOutcome: 'ActionResult',
  OwnersReporting: 'ProductReporting',
};
/** What `src/shared/product/actions.ts` hands out, whichever file it was taken from. */
const ofActions = {
  'src/shared/engine/form.tsx': ['Form'],
  'src/shared/engine/hooks.ts': ['useActionOutcome'],
};
const actionsFile = 'src/shared/product/actions.ts';
/** Files of 0.1.0 that are gone, whose names another file declares now. */
const replaced = [['src/server/engine/owners-files.ts', 'src/server/engine/product.ts']];
const statement = /^(import|export)(\s+type)?\s*\{([^}]*)\}\s*from\s*'(\.[^']+)';$/gm;

/**
 * @returns {(path: string, name: string) => string | undefined} the index that exports a name, by the file that
 * declares it now, or declared it in 0.1.0
 */
export function readIndexes(root) {
  const moves = [...JSON.parse(readFileSync(join(root, 'moves.json'), 'utf8')), ...replaced];
  const known = new Map();
  for (const [index, path] of Object.entries(indexes)) {
    const text = existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '';
    for (const [, , , clause, from] of text.matchAll(statement)) {
      const file = posix.join(posix.dirname(path), from);
      for (const { name } of listNames(clause)) known.set(`${file}#${name}`, index);
    }
  }
  return (path, name) => {
    let present = path;
    for (const [from, to] of moves) {
      if (from === present) present = to;
      else if (from === `${present}#${name}`) [present] = to.split('#');
    }
    return known.get(`${present}#${name}`);
  };
}

/**
 * @param {string} path of the file, relative to the root
 * @param {string} text
 * @param {ReturnType<typeof readIndexes>} find what `readIndexes` returned
 */
export function rewrite(path, text, find) {
  /** By module: the imported names, and the positions of the imports. */
  const merged = new Map();
  const renames = [];
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(statement)) {
    const [whole, kind, type, clause, from] = found;
    const target = posix.join(posix.dirname(path), from);
    const kept = [];
    const slots = new Map();
    for (const item of listNames(clause)) {
      const name = renamed[item.name] ?? item.name;
      const to = ofActions[target]?.includes(item.name)
        ? toActions(path)
        : (find(target, name) ?? toProduct(path, target));
      if (!to) {
        kept.push(item);
        continue;
      }
      if (name !== item.name && item.local === item.name) renames.push([item.name, name]);
      const local = item.local === item.name ? name : item.local;
      const isType = Boolean(type) || item.isType;
      const key = `${kind} ${to}`;
      if (!merged.has(key)) {
        merged.set(key, { kind, to, names: [] });
        slots.set(key, merged.get(key));
      }
      merged.get(key).names.push({ name, local, isType });
    }
    const rest =
      kept.length > 0
        ? [{ kind, to: from, names: kept.map((item) => ({ ...item, isType: Boolean(type) || item.isType })) }]
        : [];
    const isUnchanged = slots.size === 0 && kept.length === listNames(clause).length;
    parts.push(text.slice(end, found.index), isUnchanged ? [whole] : [...rest, ...slots.values()]);
    end = found.index + whole.length;
    // Removes the line of an empty statement.
    if (!isUnchanged && rest.length + slots.size === 0 && text[end] === '\n') end += 1;
  }
  parts.push(text.slice(end));
  const result = parts
    .map((part) =>
      typeof part === 'string'
        ? part
        : part.map((one) => (typeof one === 'string' ? one : toStatement(one))).join('\n'),
    )
    .join('');
  const withPaths = result.replace(/((?:\bfrom|\bimport|\bmock\()\s*\(?)'(\.[^']+)'/g, (whole, lead, from) => {
    const to = toProduct(path, posix.join(posix.dirname(path), from));
    return to ? `${lead}'${to}'` : whole;
  });
  // Pages have it from `actions.ts`, which has it from `createActionUses()`.
  if (/\bactions\.ts'|\bcreateActionUses\b/.test(withPaths))
    renames.push(['useActionOutcome', renamed.useActionOutcome]);
  return renames.reduce((source, [from, to]) => source.replace(toUses(from), to), withPaths);
}

/** Where a name is used. `Late` is a word too, so it is one only where a component can stand. */
function toUses(name) {
  return name === 'Late'
    ? /(?<=<\/?|\btypeof |\(|\{|[,=:] )Late\b(?=[\s/>.,);}<])/g
    : new RegExp(`(?<![\\w$.'"\`/-])${name}(?![\\w$'"\`-])`, 'g');
}

function toActions(path) {
  if (!path.startsWith('src/shared/product/')) return `#product/${posix.basename(actionsFile)}`;
  const to = posix.relative(posix.dirname(path), actionsFile);
  return to.startsWith('.') ? to : `./${to}`;
}

/** Returns the import path of a file in another part of the product; undefined within the same part. */
function toProduct(path, target) {
  for (const [prefix, folder] of Object.entries(products)) {
    if (target.startsWith(folder) && !path.startsWith(folder)) return prefix + target.slice(folder.length);
  }
  return undefined;
}

function toStatement({ kind, to, names }) {
  const isType = names.every((item) => item.isType);
  const unique = new Map(names.map((item) => [item.local, item]));
  const list = [...unique.values()]
    .sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1))
    .map(
      ({ name, local, isType: one }) =>
        `${one && !isType ? 'type ' : ''}${name}${local === name ? '' : ` as ${local}`}`,
    );
  return `${kind} ${isType ? 'type ' : ''}{ ${list.join(', ')} } from '${to}';`;
}

function listNames(clause) {
  const items = clause.split(',').map((item) => item.trim());
  return items.filter(Boolean).map((item) => {
    const [, type, name, local] = /^(type\s+)?(\S+)(?:\s+as\s+(\S+))?$/.exec(item) ?? ['', '', item, ''];
    return { name, local: local || name, isType: Boolean(type) };
  });
}

function listFiles(root) {
  const trees = ['shared', 'server', 'client'].flatMap((tree) => [`src/${tree}/product`, `tests/${tree}/product`]);
  return [...trees, 'tests/e2e/product', 'tests/support/product', 'bench/product']
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/')),
    );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
  const find = readIndexes(root);
  for (const path of listFiles(root)) {
    const text = readFileSync(join(root, path), 'utf8');
    const next = rewrite(path, text, find);
    if (next === text) continue;
    writeFileSync(join(root, path), next);
    console.log(path);
  }
}
