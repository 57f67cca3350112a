import { toTitle } from './fields.mjs';

/** The pages: list, form, detail, form. */
export function listRoutes(model) {
  const { one, many, camel, Pascal } = model;
  const { one: Type } = Pascal;
  return [
    {
      id: many,
      key: toKey(many),
      name: camel.many,
      path: `/${many}`,
      text: writeList(model),
      half: writeListHalf(model),
    },
    {
      id: `new-${one}`,
      key: `'new-${one}'`,
      name: `new${Type}`,
      path: `/${many}/new`,
      actions: `New${Type}Actions`,
      text: writeNew(model),
      half: writeNewHalf(model),
    },
    {
      id: one,
      key: toKey(one),
      name: camel.one,
      path: `/${many}/:id`,
      actions: `${Type}Actions`,
      text: writeDetail(model),
      half: writeDetailHalf(model),
    },
    {
      id: `edit-${one}`,
      key: `'edit-${one}'`,
      name: `edit${Type}`,
      path: `/${many}/:id/edit`,
      actions: `Edit${Type}Actions`,
      text: writeEdit(model),
      half: writeEditHalf(model),
    },
  ];
}

const toKey = (id) => (id.includes('-') ? `'${id}'` : id);

function writeList({ one, many, Pascal, words, Words, camel, fields }) {
  const title = toTitle(fields).name;
  const date = fields.find(({ type }) => type === 'date');
  const shown = ['id', title, ...(date ? [date.name] : [])];
  return `import { Link, type PageProps } from '#engine';
import type { ${Pascal.one} } from '../../${one}-fields.ts';
import styles from '../../ui/list.module.css';

export interface ${Pascal.many}Data {
  ${camel.many}: ${Pascal.one}[];
  /** The length of a list that is not complete. */
  most: number;
}

export default function ${Pascal.many}({ data: { ${camel.many}, most } }: PageProps<${Pascal.many}Data>) {
  return (
    <article>
      <title>${Words}</title>
      <meta name="description" content="Your ${words.many}." />
      <h1>${Words}</h1>
      <p>
        <Link to="/${many}/new">New ${words.one}</Link>
      </p>
      {${camel.many}.length === 0 && <p>You have no ${words.many} yet.</p>}
      <ul className={styles.list}>
        {${camel.many}.map(({ ${shown.join(', ')} }) => (
          <li key={id}>
            <Link to={\`/${many}/\${id}\`}>{${title}}</Link>
${date ? `            ${date.show(date.name)}\n` : ''}          </li>
        ))}
      </ul>
      {${camel.many}.length === most && <p>Only the newest {most} ${words.many} are shown.</p>}
    </article>
  );
}
`;
}

function writeListHalf({ many, camel, Pascal }) {
  return `import type { ServerPage } from '#engine/server';
import type { ${Pascal.many}Data } from '#product/pages/${many}/${many}.tsx';
import { requireUser } from '../accounts/require-user.ts';
import type { AppContext } from '../context.ts';
import { list${Pascal.many}, MOST } from '../${many}.ts';

export const ${camel.many} = {
  loader: async (args) => ({
    ${camel.many}: await list${Pascal.many}(args.context.services.db, requireUser(args)),
    most: MOST,
  }),
} satisfies ServerPage<${Pascal.many}Data, AppContext>;
`;
}

export function writeInputs({ one, camel, Pascal, fields }) {
  const inputs = fields.map(({ name, label, input, type }) => {
    const value = type === 'boolean' ? 'defaultChecked' : 'defaultValue';
    return `      <Field label="${label}" name="${name}"${input} ${value}={${camel.one}?.${name}} result={result} />`;
  });
  return `import type { ActionResult } from '#engine';
import type { ${Pascal.one} } from '../../${one}-fields.ts';
import { Field } from '../../ui/field.tsx';

interface ${Pascal.one}InputsProps {
  result: ActionResult | undefined;
  /** The stored one, for a form that changes it. */
  ${camel.one}?: ${Pascal.one};
}

export function ${Pascal.one}Inputs({ result, ${camel.one} }: ${Pascal.one}InputsProps) {
  return (
    <>
${inputs.join('\n')}
    </>
  );
}
`;
}

function writeNew({ one, many, Pascal, aOne, words }) {
  return `import { Link } from '#engine';
import { Form, useActionResult } from '../../actions.ts';
import styles from '../../ui/form.module.css';
import { Submit } from '../../ui/submit.tsx';
import { ${Pascal.one}Inputs } from '../${one}/${one}-inputs.tsx';

export interface New${Pascal.one}Actions {
  add(): void;
}

export default function New${Pascal.one}() {
  const result = useActionResult('new-${one}.add');
  return (
    <article>
      <title>New ${words.one}</title>
      <meta name="description" content="Add ${aOne}." />
      <h1>New ${words.one}</h1>
      <Form action="new-${one}.add" className={styles.form}>
        <${Pascal.one}Inputs result={result} />
        <Submit>Add</Submit>
        <Link to="/${many}">Cancel</Link>
      </Form>
    </article>
  );
}
`;
}

function writeNewHalf({ one, many, Pascal }) {
  return `import { redirect } from '#engine';
import { formAction, type ServerPage } from '#engine/server';
import { ${Pascal.one}Form } from '#product/${one}-fields.ts';
import type { New${Pascal.one}Actions } from '#product/pages/new-${one}/new-${one}.tsx';
import { requireUser } from '../accounts/require-user.ts';
import type { AppContext } from '../context.ts';
import { add${Pascal.one} } from '../${many}.ts';

export const new${Pascal.one} = {
  guard(args) {
    requireUser(args);
  },
  actions: {
    add: formAction(${Pascal.one}Form, async ({ data, ...args }) => {
      const { id } = await add${Pascal.one}(args.context.services.db, requireUser(args), data);
      redirect(\`/${many}/\${id}\`);
    }),
  },
} satisfies ServerPage<unknown, AppContext, New${Pascal.one}Actions>;
`;
}

function writeDetail({ one, many, camel, Pascal, words, fields }) {
  const title = toTitle(fields);
  const facts = fields
    .filter((field) => field !== title)
    .map(({ name, label, show, type }) => {
      const long = type === 'longtext' ? ' className={styles.long}' : '';
      return `        <dt>${label}</dt>
        <dd${long}>${show(`${camel.one}.${name}`)}</dd>`;
    });
  return `import type { SubmitEvent } from 'react';
import { Link, type PageProps } from '#engine';
import { Form } from '../../actions.ts';
import type { ${Pascal.one} } from '../../${one}-fields.ts';
import styles from '../../ui/list.module.css';

export interface ${Pascal.one}Data {
  ${camel.one}: ${Pascal.one};
}

export interface ${Pascal.one}Actions {
  remove(): void;
}

export default function ${Pascal.one}Page({ data: { ${camel.one} } }: PageProps<${Pascal.one}Data>) {
  function ask(event: SubmitEvent) {
    if (!confirm('Delete this ${words.one}?')) event.preventDefault();
  }

  return (
    <article>
      <title>{${camel.one}.${title.name}}</title>
      <meta name="description" content="One of your ${words.many}." />
      <h1>{${camel.one}.${title.name}}</h1>
${facts.length > 0 ? `      <dl className={styles.facts}>\n${facts.join('\n')}\n      </dl>\n` : ''}      <div className={styles.actions}>
        <Link to={\`/${many}/\${${camel.one}.id}/edit\`}>Edit</Link>
        <Form action="${one}.remove" onSubmit={ask}>
          <button type="submit">Delete</button>
        </Form>
      </div>
      <p>
        <Link to="/${many}">All ${words.many}</Link>
      </p>
    </article>
  );
}
`;
}

function writeDetailHalf({ one, many, camel, Pascal, words }) {
  return `import { notFound, redirect } from '#engine';
import { type LoaderArgs, oncePerRequest, type ServerPage } from '#engine/server';
import type { ${Pascal.one}Actions, ${Pascal.one}Data } from '#product/pages/${one}/${one}.tsx';
import { requireUser } from '../accounts/require-user.ts';
import type { AppContext } from '../context.ts';
import { find${Pascal.one}, remove${Pascal.one} } from '../${many}.ts';

/** Returns the ${words.one} of the URL. The request ends with 404 if it is not one of the user's. */
export const require${Pascal.one} = oncePerRequest(async (args: LoaderArgs<AppContext>) => {
  const { params, context } = args;
  return (await find${Pascal.one}(context.services.db, requireUser(args), params.id ?? '')) ?? notFound();
});

export const ${camel.one} = {
  async guard(args) {
    await require${Pascal.one}(args);
  },
  loader: async (args) => ({ ${camel.one}: await require${Pascal.one}(args) }),
  actions: {
    async remove(args) {
      const { id } = await require${Pascal.one}(args);
      await remove${Pascal.one}(args.context.services.db, requireUser(args), id);
      redirect('/${many}');
    },
  },
} satisfies ServerPage<${Pascal.one}Data, AppContext, ${Pascal.one}Actions>;
`;
}

function writeEdit({ one, many, camel, Pascal, aOne, words }) {
  return `import { Link, type PageProps } from '#engine';
import { Form, useActionResult } from '../../actions.ts';
import type { ${Pascal.one} } from '../../${one}-fields.ts';
import styles from '../../ui/form.module.css';
import { Submit } from '../../ui/submit.tsx';
import { ${Pascal.one}Inputs } from '../${one}/${one}-inputs.tsx';

export interface Edit${Pascal.one}Data {
  ${camel.one}: ${Pascal.one};
}

export interface Edit${Pascal.one}Actions {
  save(): void;
}

export default function Edit${Pascal.one}({ data: { ${camel.one} } }: PageProps<Edit${Pascal.one}Data>) {
  const result = useActionResult('edit-${one}.save');
  return (
    <article>
      <title>Edit ${words.one}</title>
      <meta name="description" content="Change ${aOne}." />
      <h1>Edit ${words.one}</h1>
      <Form action="edit-${one}.save" className={styles.form}>
        <${Pascal.one}Inputs result={result} ${camel.one}={${camel.one}} />
        <Submit>Save</Submit>
        <Link to={\`/${many}/\${${camel.one}.id}\`}>Cancel</Link>
      </Form>
    </article>
  );
}
`;
}

function writeEditHalf({ one, many, camel, Pascal }) {
  return `import { redirect } from '#engine';
import { formAction, type ServerPage } from '#engine/server';
import { ${Pascal.one}Form } from '#product/${one}-fields.ts';
import type { Edit${Pascal.one}Actions, Edit${Pascal.one}Data } from '#product/pages/edit-${one}/edit-${one}.tsx';
import { requireUser } from '../accounts/require-user.ts';
import type { AppContext } from '../context.ts';
import { change${Pascal.one} } from '../${many}.ts';
import { require${Pascal.one} } from './${one}.ts';

export const edit${Pascal.one} = {
  async guard(args) {
    await require${Pascal.one}(args);
  },
  loader: async (args) => ({ ${camel.one}: await require${Pascal.one}(args) }),
  actions: {
    save: formAction(${Pascal.one}Form, async ({ data, ...args }) => {
      const { id } = await require${Pascal.one}(args);
      await change${Pascal.one}(args.context.services.db, requireUser(args), { id, ...data });
      redirect(\`/${many}/\${id}\`);
    }),
  },
} satisfies ServerPage<Edit${Pascal.one}Data, AppContext, Edit${Pascal.one}Actions>;
`;
}
