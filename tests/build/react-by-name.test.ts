import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { requireBanner } from '../../build/bundles.mjs';
import { reactByName } from '../../build/react-by-name.mjs';
import { createFolder } from '../support/folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const SOURCE = `
  import React, { useState } from 'react';
  import * as all from 'react';
  import { renderToStaticMarkup } from 'react-dom/server';
  function Count() {
    const [count] = useState(7);
    return <><b>{count}</b>{React.createElement(all.Fragment, null, 'times')}</>;
  }
  export const html = renderToStaticMarkup(<Count />);`;

it('calls the exports of React directly, and renders with the same React', async () => {
  const { outputFiles } = await build({
    stdin: { contents: SOURCE, resolveDir: root, loader: 'tsx' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    jsx: 'automatic',
    banner: { js: requireBanner },
    plugins: [reactByName],
  });
  const [{ text = '' } = {}] = outputFiles;
  expect(text).not.toMatch(/__toESM\(require_(?:react|jsx_runtime)\(\)/);
  expect(text).toMatch(/\bjsx\("b"/);
  const file = join(createFolder(onTestFinished), 'bundle.mjs');
  writeFileSync(file, text);
  expect((await import(pathToFileURL(file).href)).html).toBe('<b>7</b>times');
});
