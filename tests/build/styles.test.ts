import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createStyles } from '../../build/styles.mjs';
import { createFolder } from '../support/folder.ts';
import { writeFiles } from './write-files.ts';

/** The sheets of a module that imports these. */
async function bundle(styles: ReturnType<typeof createStyles>, names: readonly string[]): Promise<string> {
  const imports = names.map((path) => ({ path, kind: 'import-statement' as const }));
  const sheets = Object.fromEntries(imports.map(({ path }) => [path, { bytes: 1, imports: [] }]));
  const metafile = { inputs: { 'main.ts': { bytes: 1, imports }, ...sheets }, outputs: {} };
  const bundled = await styles.bundle(metafile, 'main.ts', []);
  return bundled.sheets.map(({ contents }) => Buffer.from(contents).toString()).join('');
}

it('begins with the sheets of other sites, which browsers ignore after a rule', async () => {
  const root = createFolder(onTestFinished);
  writeFileSync(join(root, 'one.css'), '.one { color: red }');
  writeFileSync(join(root, 'two.css'), "@import url('https://fonts.example/css?weight=400;700');\n.two { color: red }");
  const styles = createStyles(root, { minify: true, target: 'es2022', outdir: join(root, 'out') });
  const text = await bundle(styles, ['one.css', 'two.css']);
  expect(text).toMatch(
    /^@import"https:\/\/fonts\.example\/css\?weight=400;700";\s*\.one\{[^}]+\}\s*\.two\{[^}]+\}\s*$/,
  );
});

it('imports the sheet of a package that also has a script at that name', async () => {
  const root = createFolder(onTestFinished);
  writeFiles(root, {
    'main.css': "@import 'kit';",
    'node_modules/kit/package.json': '{ "exports": { ".": { "style": "./kit.css", "default": "./kit.js" } } }',
    'node_modules/kit/kit.css': '.kit { color: red }',
    'node_modules/kit/kit.js': 'export default 1;',
  });
  const styles = createStyles(root, { minify: true, target: 'es2022', outdir: join(root, 'out') });
  expect(await bundle(styles, ['main.css'])).toContain('.kit{color:red}');
});

it('compiles a sheet again if something changes that it imports, composes from or shows', async () => {
  const root = createFolder(onTestFinished);
  const write = (name: string, text: string) => writeFileSync(join(root, name), text);
  write('global.css', "@import './tokens.css';");
  write('tokens.css', '.first { color: red }');
  write('card.module.css', ".card { composes: base from './base.module.css'; background: url('./back.png'); }");
  write('base.module.css', '.base { color: red }');
  write('back.png', 'a picture');
  const styles = createStyles(root, { minify: true, target: 'es2022', outdir: join(root, 'out') });

  const build = () => bundle(styles, ['global.css', 'card.module.css']);
  const edit = (name: string, text: string) => {
    write(name, text);
    styles.forget(join(root, name));
  };

  expect(await build()).toContain('first');
  edit('tokens.css', '.second { color: blue }');
  expect(await build()).toContain('second');
  edit('base.module.css', '.base { color: green }');
  expect(await build()).toContain('green');
  const before = await build();
  edit('back.png', 'another picture');
  expect(await build()).not.toBe(before); // the name has a hash

  edit('global.css', "@import './tokens.css'; @import './missing.css';");
  await expect(build()).rejects.toThrow('missing.css');
  edit('missing.css', '.found { color: gray }');
  expect(await build()).toContain('found');
});
