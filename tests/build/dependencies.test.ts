import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Locked {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
  readonly name?: string;
}

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const readLocked = (file: string) =>
  Object.entries((JSON.parse(read(file)) as { packages: Record<string, Locked> }).packages);
const { allowScripts, dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json'));
const recipes = JSON.parse(read('tests/recipes/packages/package.json'));
const installed = [
  ...readLocked('package-lock.json'),
  ...readLocked('tests/recipes/packages/package-lock.json'),
].filter(([folder]) => folder !== '');
const toName = (folder: string) => folder.split('node_modules/').at(-1) ?? '';

describe('dependencies', () => {
  it('come only from the registry, with a hash', () => {
    const others = installed.filter(([, { integrity, resolved, link }]) => {
      return link || !integrity?.startsWith('sha512-') || (resolved && !resolved.startsWith('https://registry.'));
    });
    expect(others.map(([folder]) => folder)).toEqual([]);
  });

  it('run no install scripts: each existing one is refused', () => {
    const scripts = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([folder]) => toName(folder));
    const refused = { ...allowScripts, ...recipes.allowScripts };
    for (const name of scripts) expect(refused, name).toHaveProperty([name], false);
    expect(read('.npmrc')).toMatch(/^strict-allow-scripts=true$/m);
  });

  it('have exact versions', () => {
    const ranges = { ...dependencies, ...devDependencies, ...optionalDependencies, ...recipes.dependencies };
    for (const [name, range] of Object.entries(ranges))
      expect([name, range]).toEqual([name, expect.stringMatching(EXACT)]);
  });

  it('do not include any that deserialize types from browser input', () => {
    const names = installed.map(([folder, { name }]) => name ?? toName(folder));
    expect(names.filter((name) => /^react-server-dom-|^turbo-stream$|^seroval$|^devalue$/.test(name))).toEqual([]);
  });
});

const EXACT = /^(?:npm:[^@]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/;
