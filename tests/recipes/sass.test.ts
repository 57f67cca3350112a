import { expect, it } from 'vitest';
import { useRecipe } from './recipe.ts';

const HOME = 'src/shared/product/pages/home/home.tsx';
const ROOT = 'src/shared/product/pages/root/root.tsx';

// Adds a sheet without a module, an alias, and a plugin for the text of all sheets.
const app = useRecipe(
  'sass',
  (it) => {
    it.replace('package.json', '"#engine":', '"#ui/*": "./src/shared/product/ui/*",\n    "#engine":');
    it.replace(HOME, '../../ui/card.tsx', '#ui/card.tsx');
    it.replace(HOME, 'import', "import styles from './home.module.css';\nimport");
    it.replace(HOME, '<Card>', '<h1 className={styles.head}>Home</h1><Card>');
    it.replace(ROOT, 'import', "import './global.scss';\nimport");
    it.replace('src/server/product/build.mjs', '[sass]', '[sass, units]');
    it.replace(
      'src/server/product/build.mjs',
      'export',
      `import { readFile } from 'node:fs/promises';
      const units = { name: 'units', setup(build) {
        build.onLoad({ filter: /\\.css$/, namespace: 'file' }, async ({ path }) =>
          ({ contents: (await readFile(path, 'utf8')).replaceAll('7units', '56px'), loader: 'css' }));
      } };
      export`,
    );
    it.write({
      'src/shared/product/pages/home/home.module.css': '.head { padding: 7units; background: url(./dot.svg) }',
      'src/shared/product/pages/home/dot.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'src/shared/product/pages/root/global.scss': '@use "../../ui/colors"; body { main { color: colors.$water } }',
    });
  },
  { withPackages: true },
);

it('compiles sheets and their modules once, with class names that belong to the file', async () => {
  const { url } = await app.start();
  const html = await (await fetch(url)).text();
  const [, card] = /<section class="(card_\w+_card)">/.exec(html) ?? [];
  const [, head] = /<h1 class="(home_\w+_head)">/.exec(html) ?? [];
  const sheets = [...html.matchAll(/<link rel="stylesheet" href="([^"]+\.css)"/g)];
  const texts = await Promise.all(sheets.map(async ([, href]) => (await fetch(url + href)).text()));
  const css = texts.join('');
  expect(css).toContain('body main{color:#1d6fa5}');
  expect(css.split(`.${card}{color:#1d6fa5}`)).toHaveLength(2);
  expect(css).toContain(`.${card}:hover{color:#000}`);
  expect(css).toMatch(new RegExp(`\\.${head}\\{padding:56px;background:url\\("?/assets/dot-\\w+\\.svg`));
});
