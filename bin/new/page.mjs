import { findChildren, findObject, planEdit } from './insert.mjs';
import { parsePagePath, toConstName, toTypeName, toWords } from './names.mjs';

const routesFile = 'src/shared/product/routes.tsx';
const halvesFile = 'src/server/product/pages/index.ts';

/** Names that the written files use themselves. */
const USED = ['data', 'definePage', 'pages', 'routes'];

/**
 * Plans a new page: its two files, its test, and a line in each table. A page without data has no server file.
 *
 * @param {string} root
 * @param {{ path: string, static?: boolean, 'no-data'?: boolean }} wanted
 * @returns {import('./new.mjs').Plan}
 */
export function planPage(root, wanted) {
  const page = parsePagePath(wanted.path);
  const { path, id } = page;
  const name = toConstName(id, USED);
  const hasData = !wanted['no-data'];
  const mode = wanted.static ? " mode: 'static'," : '';
  const route = `{ id: '${id}', path: '${path}',${mode} page: () => import('./pages/${id}/${id}.tsx') }`;
  const key = /^[A-Za-z_]\w*$/.test(id) ? id : `'${id}'`;
  const value = hasData ? name : 'null';
  return {
    files: {
      [`src/shared/product/pages/${id}/${id}.tsx`]: writePage(page, hasData && name),
      ...(hasData && { [`src/server/product/pages/${id}.ts`]: writeHalf(page, name) }),
      [`tests/server/product/pages/${id}.test.ts`]: writeTest(page),
    },
    edits: [
      planEdit(root, {
        path: halvesFile,
        imports: hasData ? [`import { ${name} } from './${id}.ts';`] : [],
        item: key === value ? key : `${key}: ${value}`,
        place: 'the table of server files',
        find: (program) => findObject(program, 'pages'),
      }),
      planEdit(root, {
        path: routesFile,
        item: route,
        place: 'the children of your layout',
        find: (program) => (wanted.static && findChildren(program, 'static')) || findChildren(program),
      }),
    ],
    next: `\`npm run dev\` shows it at ${toExample(path)}.`,
  };
}

const EXAMPLE = '7';

/** A page without a server file shows no parameters, because they are in the data of a loader. */
function writePage({ id, params }, half) {
  const title = toWords(id);
  const shown = half ? params.map((name) => `{data.${name}}`) : [];
  const heading = [title, ...shown].join(' ');
  const imports = `import type { PageProps } from '#engine';
import type { ${half} } from '#product-server/pages/${id}.ts';

`;
  return `${half ? imports : ''}export default function ${toTypeName(id, 'Page')}(${half ? `{ data }: PageProps<typeof ${half}>` : ''}) {
  return (
    <article>
      <title>${shown.length > 0 ? `{\`${heading.replaceAll('{', '${')}\`}` : title}</title>
      <h1>${heading}</h1>${half && shown.length === 0 ? '\n      <p>{data.message}</p>' : ''}
    </article>
  );
}
`;
}

function writeHalf(page, name) {
  const { id, path, params } = page;
  const loader =
    params.length > 0
      ? `({ params }) => ({ ${params.map((param) => `${param}: params.${param}`).join(', ')} })`
      : `() => ({ message: 'This text is from src/server/product/pages/${id}.ts.' })`;
  return `import { definePage } from '../context.ts';

export const ${name} = definePage({
${path.includes(':') ? `  path: '${path}',\n` : ''}  loader: ${loader},
});
`;
}

/** The test holds for any content, so that it fails only if the page does. */
function writeTest({ path, params }) {
  const address = toExample(path);
  const hint =
    params.length > 0
      ? `Does ${address} exist? If not, visit one that exists, or give visitPage() a context that has it.`
      : 'A guard or loader ended the request. Give visitPage() the context that they need.';
  return `import { expect, it } from 'vitest';
import { visitPage } from '../../../support/product/visit-page.ts';

it('has status 200 and a title', async () => {
  const { status, html } = await visitPage('${address}');
  expect(status, '${hint}').toBe(200);
  expect(html, 'The page has no <title>.').toMatch(/<title>[^<]/);
});
`;
}

/** Returns an example URL of the page. */
function toExample(path) {
  return path.replace(/\/:\w+\?/g, '').replace(/:\w+/g, EXAMPLE) || '/';
}
