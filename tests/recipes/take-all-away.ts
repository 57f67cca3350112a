import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OwnedApp } from '../support/owned-app.ts';

/** Removes the owner's files that an app may do without, each with its line in `main.ts`. */
export function takeAllAway(app: OwnedApp): OwnedApp {
  const main = readFileSync(join(app.folder, 'src/server/main.ts'), 'utf8');
  const names = ['steps', 'routes', 'upgrade', 'csp', 'existing-app'];
  const withoutImports = names.reduce(
    (text, name) => text.replace(new RegExp(`^import .* from '\\./product/${name}\\.ts';\\n`, 'm'), ''),
    main,
  );
  const table = /(const owner: OwnersFiles<ProductSettings> = )\{.*?\};/s;
  app.write({
    'src/server/main.ts': withoutImports.replace(table, '$1{};'),
    ...Object.fromEntries(names.map((name) => [`src/server/product/${name}.ts`, undefined])),
  });
  return app;
}
