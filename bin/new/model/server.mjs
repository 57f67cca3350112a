import { MOST } from './shared.mjs';

export function writeMigration({ sqlTable, fields }) {
  return `CREATE TABLE ${sqlTable} (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
${fields.map(({ column, sql }) => `  ${column} ${sql} NOT NULL,`).join('\n')}
  created_at timestamptz NOT NULL
);

CREATE INDEX ${sqlTable}_of_user ON ${sqlTable} (user_id, created_at);
`;
}

/** The type of a row, for the interface \`Tables\`. */
export function writeColumns({ fields }) {
  const columns = [
    'id: string',
    'userId: string',
    ...fields.map(({ name, ts }) => `${name}: ${ts}`),
    'createdAt: string',
  ];
  return `{ ${columns.join('; ')} }`;
}

export function writeQueries({ one, camel, Pascal, words, table, fields }) {
  const { one: Type } = Pascal;
  const columns = ['id', ...fields.map(({ name }) => name), 'createdAt'].map((name) => `'${name}'`).join(', ');
  return `import { randomUUID } from 'node:crypto';
import type { ${Type}, ${Type}Fields } from '#product/${one}-fields.ts';
import type { User } from './accounts/users.ts';
import type { Database } from './database/tables.ts';

const COLUMNS = [${columns}] as const;

/** The most ${words.many} that a list shows. */
export const MOST = ${MOST};

/** Lists the user's ${words.many}, newest first. */
export function list${Pascal.many}(db: Database, user: User): Promise<${Type}[]> {
  return db
    .selectFrom('${table}')
    .select(COLUMNS)
    .where('userId', '=', user.id)
    .orderBy('createdAt', 'desc')
    .limit(MOST)
    .execute();
}

/** Returns undefined if the user has no such ${words.one}. */
export function find${Type}(db: Database, user: User, id: string): Promise<${Type} | undefined> {
  return db
    .selectFrom('${table}')
    .select(COLUMNS)
    .where('id', '=', id)
    .where('userId', '=', user.id)
    .executeTakeFirst();
}

export function add${Type}(db: Database, user: User, fields: ${Type}Fields): Promise<${Type}> {
  const ${camel.one} = { ...fields, id: randomUUID(), userId: user.id, createdAt: new Date().toISOString() };
  return db.insertInto('${table}').values(${camel.one}).returning(COLUMNS).executeTakeFirstOrThrow();
}

/** Returns undefined if the user has no such ${words.one}. */
export function change${Type}(
  db: Database,
  user: User,
  { id, ...fields }: ${Type}Fields & Pick<${Type}, 'id'>,
): Promise<${Type} | undefined> {
  return db
    .updateTable('${table}')
    .set(fields)
    .where('id', '=', id)
    .where('userId', '=', user.id)
    .returning(COLUMNS)
    .executeTakeFirst();
}

/** Returns undefined if the user has no such ${words.one}. */
export function remove${Type}(db: Database, user: User, id: string): Promise<Pick<${Type}, 'id'> | undefined> {
  return db
    .deleteFrom('${table}')
    .where('id', '=', id)
    .where('userId', '=', user.id)
    .returning('id')
    .executeTakeFirst();
}
`;
}

export function writeHandlers({ many, camel, Pascal }) {
  const { one: Type } = Pascal;
  const queries = [`add${Type}`, `change${Type}`, `find${Type}`, `list${Pascal.many}`, `remove${Type}`];
  return `import { type ApiPart, implement, notFoundHere } from '#engine/server';
import { ${camel.many} } from '#product/api/${many}.ts';
import type { Database } from '../../database/tables.ts';
import { ${queries.join(', ')} } from '../../${many}.ts';
import { signedIn } from '../signed-in.ts';

export function ${camel.many}Api(db: Database): ApiPart {
  return implement(
    ${camel.many},
    {
      list${Pascal.many}: async ({ caller }) => ({ status: 200, body: await list${Pascal.many}(db, caller) }),
      async create${Type}({ body, caller }) {
        const added = await add${Type}(db, caller, body);
        return { status: 201, body: added, headers: { Location: \`/api/${many}/\${added.id}\` } };
      },
      async get${Type}({ params, caller }) {
        const found = await find${Type}(db, caller, params.id);
        if (!found) throw notFoundHere();
        return { status: 200, body: found };
      },
      async replace${Type}({ params, body, caller }) {
        const changed = await change${Type}(db, caller, { ...body, ...params });
        if (!changed) throw notFoundHere();
        return { status: 200, body: changed };
      },
      async delete${Type}({ params, caller }) {
        if (!(await remove${Type}(db, caller, params.id))) throw notFoundHere();
        return { status: 204 };
      },
    },
    { auth: signedIn(db) },
  );
}
`;
}
