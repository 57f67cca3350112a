import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addProperty } from './insert.mjs';
import { parseName, Refusal, toConstName } from './names.mjs';
import { planEditIn } from './plan-edit.mjs';

const folder = 'src/server/product/database/migrations';
const table = `${folder}/index.ts`;

/**
 * Plans the next migration: its file and its line in the list.
 *
 * @param {string} root
 * @param {{ name: string, sql?: string }} wanted
 * @returns {import('./new.mjs').Plan}
 */
export function planMigration(root, wanted) {
  const name = parseName(wanted.name);
  if (!existsSync(join(root, table))) {
    throw new Refusal(
      'This app has no database. Start with `npm run own -- --with accounts`, or see docs/recipes/database.md.',
    );
  }
  const numbers = readdirSync(join(root, folder)).map((file) => Number.parseInt(file, 10) || 0);
  const number = String(Math.max(0, ...numbers) + 1).padStart(4, '0');
  const file = `${number}-${name}`;
  const constant = toFreeName(toConstName(name, 'Migration'), number, readFileSync(join(root, table), 'utf8'));
  return {
    files: [
      {
        path: `${folder}/${file}.sql`,
        about: 'the migration',
        text: wanted.sql ?? '-- Write SQL here. It runs once, before the server listens.\n',
      },
    ],
    edits: [
      planEditIn(root, {
        path: table,
        imports: [`import ${constant} from './${file}.sql';`],
        items: [`'${file}': ${constant}`],
        place: 'the object `migrations`',
        add: (source, item) => addProperty(source, 'migrations', item),
      }),
    ],
    next: 'Add its columns in src/server/product/database/tables.ts. After it has run, write changes as a new migration.',
  };
}

function toFreeName(name, number, source) {
  return source.includes(`import ${name} from`) ? name + Number(number) : name;
}
