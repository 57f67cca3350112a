import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addMember, addProperty, addReturned, addRoute, listRoutes } from './insert.mjs';
import { planMigration } from './migration.mjs';
import { parseFields } from './model/fields.mjs';
import { toModelNames } from './model/names.mjs';
import * as pages from './model/pages.mjs';
import * as server from './model/server.mjs';
import * as shared from './model/shared.mjs';
import * as tests from './model/tests.mjs';
import { Refusal } from './names.mjs';
import { planEditIn } from './plan-edit.mjs';

const styles = 'src/shared/product/ui/list.module.css';
const readStyles = () => readFileSync(new URL('model/list.module.css', import.meta.url), 'utf8');

/**
 * Plans a model, whose rows belong to the signed-in user: its table, queries, pages, API and tests.
 *
 * @param {string} root
 * @param {{ name: string, fields: string[] }} wanted
 * @returns {import('./new.mjs').Plan}
 */
export function planModel(root, wanted) {
  const names = toModelNames(wanted.name);
  const model = { ...names, fields: parseFields(wanted.fields, names) };
  const { one, many, camel, table } = model;
  const migration = planMigration(root, { name: many, sql: server.writeMigration(model) });
  requireFree(root, model);
  const product = 'src/server/product';
  const file = (path, about, text) => ({ path, about, text });
  const edit = (path, place, items, add, imports = []) => planEditIn(root, { path, place, items, add, imports });
  const routes = pages.listRoutes(model);
  return {
    files: [
      ...migration.files,
      ...(existsSync(join(root, styles)) ? [] : [file(styles, 'the styles of its pages', readStyles())]),
      file(`src/shared/product/${one}-fields.ts`, 'its fields, for forms and the API', shared.writeFields(model)),
      file(`${product}/${many}.ts`, 'its queries', server.writeQueries(model)),
      ...routes.map(({ id, text }) => file(`src/shared/product/pages/${id}/${id}.tsx`, 'a page', text)),
      file(`src/shared/product/pages/${one}/${one}-inputs.tsx`, 'the inputs of its forms', pages.writeInputs(model)),
      ...routes.map(({ id, half }) => file(`${product}/pages/${id}.ts`, 'its server half', half)),
      file(`src/shared/product/api/${many}.ts`, 'the operations of its API', shared.writeOperations(model)),
      file(`${product}/api/${many}/handlers.ts`, 'their handlers', server.writeHandlers(model)),
      file(`tests/server/product/pages/${many}.test.ts`, 'the test of the pages', tests.writePagesTest(model)),
      file(`tests/server/product/api/${many}/handlers.test.ts`, 'the test of the API', tests.writeApiTest(model)),
    ],
    edits: [
      ...migration.edits,
      edit(
        `${product}/database/tables.ts`,
        'the interface `Tables`',
        [`${table}: ${server.writeColumns(model)}`],
        (source, item) => addMember(source, 'Tables', item),
      ),
      edit(
        'src/shared/product/actions.ts',
        'the interface `Actions`',
        routes.flatMap(({ key, actions }) => (actions ? [`${key}: ${actions}`] : [])),
        (source, item) => addMember(source, 'Actions', item),
        routes.flatMap(({ id, actions }) =>
          actions ? [`import type { ${actions} } from './pages/${id}/${id}.tsx';`] : [],
        ),
      ),
      edit(
        `${product}/pages/index.ts`,
        'the table of server halves',
        routes.map(({ key, name }) => (key === name ? key : `${key}: ${name}`)),
        (source, item) => addProperty(source, 'pages', item),
        routes.map(({ id, name }) => `import { ${name} } from './${id}.ts';`),
      ),
      edit(
        'src/shared/product/routes.tsx',
        'the children of your layout',
        routes.map(({ id, path }) => `{ id: '${id}', path: '${path}', page: () => import('./pages/${id}/${id}.tsx') }`),
        addRoute,
      ),
      edit(
        'src/shared/product/pages/root/frame.tsx',
        'the list `LINKS`',
        [`{ to: '/${many}', text: '${model.Words}' }`],
        (source, item) => addProperty(source, 'LINKS', item),
      ),
      edit(
        'src/shared/product/api/index.ts',
        'the object `api`',
        [`...${camel.many}`],
        (source, item) => addProperty(source, 'api', item),
        [`import { ${camel.many} } from './${many}.ts';`],
      ),
      edit(
        `${product}/api/index.ts`,
        'the list that `createApi` returns',
        [`${camel.many}Api(services.db)`],
        (source, item) => addReturned(source, 'createApi', item),
        [`import { ${camel.many}Api } from './${many}/handlers.ts';`],
      ),
    ],
    next: `\`npm run dev\` runs the migration, and shows the pages at /${many} after you sign in.`,
  };
}

function requireFree(root, { many, table, ids }) {
  const tables = readFileSync(join(root, 'src/server/product/database/tables.ts'), 'utf8');
  if (new RegExp(`^\\s*${table}:`, 'm').test(tables)) {
    throw new Refusal(`The table ${table} already exists, in src/server/product/database/tables.ts.`);
  }
  const known = listRoutes(readFileSync(join(root, 'src/shared/product/routes.tsx'), 'utf8'));
  const taken = ids.find((id) => known.ids.includes(id)) ?? known.paths.find((path) => path === `/${many}`);
  if (taken) throw new Refusal(`The page ${taken} already exists, in src/shared/product/routes.tsx.`);
}
