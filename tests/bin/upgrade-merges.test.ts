import { describe, expect, it } from 'vitest';
import { mergeLock, mergeManifest } from '../../bin/upgrade/merge-json.mjs';
import { mergeSettings } from '../../bin/upgrade/merge-settings.mjs';

const print = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

describe('package.json', () => {
  const merge = (base: object, ours: object, theirs: object) => {
    const { theirs: text, conflicts } = mergeManifest(print(base), print(ours), print(theirs));
    return { merged: JSON.parse(text), conflicts };
  };

  it.each([
    ['the higher version of a package', { a: '1.0.0' }, { a: '1.10.0' }, { a: '1.9.0' }, { a: '1.10.0' }],
    [
      'a new package of each side, sorted',
      { m: '1.0.0' },
      { m: '1.0.0', z: '1.0.0' },
      { a: '1.0.0', m: '1.0.0' },
      { a: '1.0.0', m: '1.0.0', z: '1.0.0' },
    ],
    ['the removal of a package by you', { a: '1.0.0' }, {}, { a: '1.1.0' }, {}],
    ['the removal of a package by the release', { a: '1.0.0' }, { a: '1.0.0' }, {}, {}],
    [
      'a package that the release removes, if you changed its version',
      { a: '1.0.0' },
      { a: '1.0.1' },
      {},
      { a: '1.0.1' },
    ],
    ['the same new package', {}, { a: '1.0.0' }, { a: '1.2.0' }, { a: '1.2.0' }],
  ])('gets %s', (_, base, ours, theirs, expected) => {
    const { merged, conflicts } = merge({ dependencies: base }, { dependencies: ours }, { dependencies: theirs });
    expect(conflicts).toEqual([]);
    expect(Object.entries(merged.dependencies)).toEqual(Object.entries(expected));
  });

  it('gets a newer version of a package that you moved to dependencies, such as that of accounts', () => {
    const { merged, conflicts } = merge(
      { devDependencies: { kysely: '1.0.0' } },
      { dependencies: { kysely: '1.0.0' }, devDependencies: {} },
      { devDependencies: { kysely: '1.1.0' } },
    );
    expect([merged, conflicts]).toEqual([{ dependencies: { kysely: '1.1.0' }, devDependencies: {} }, []]);
  });

  it('reports versions that cannot be compared, and texts that both sides changed', () => {
    const base = { dependencies: { a: '1.0.0' }, scripts: { check: 'tsc' } };
    const ours = { dependencies: { a: 'npm:b@1.0.0' }, scripts: { check: 'make' } };
    const theirs = { dependencies: { a: '2.0.0' }, scripts: { check: 'tsc -b' } };
    expect(merge(base, ours, theirs).conflicts).toEqual(['dependencies.a', 'scripts.check']);
  });

  it('keeps the indentation', () => {
    const ours = '{\n\t"private": true\n}\n';
    expect(mergeManifest('{}', ours, '{ "type": "module" }').theirs).toBe(
      '{\n\t"private": true,\n\t"type": "module"\n}\n',
    );
  });
});

describe('package-lock.json', () => {
  const lock = (packages: object) => print({ name: 'spillway', lockfileVersion: 3, packages: { '': {}, ...packages } });

  it('gets the packages of both sides, and the higher version', () => {
    const merged = mergeLock(
      lock({ a: { version: '1.0.0' }, b: { version: '1.0.0' }, gone: { version: '1.0.0' } }),
      lock({
        a: { version: '1.0.2' },
        b: { version: '1.0.0' },
        gone: { version: '1.0.0' },
        mine: { version: '3.0.0' },
      }),
      lock({ a: { version: '1.0.1' }, b: { version: '2.0.0' }, theirs: { version: '4.0.0' } }),
      { name: 'shop', dependencies: { mine: '3.0.0' } },
    );
    expect(JSON.parse(merged)).toEqual({
      name: 'shop',
      lockfileVersion: 3,
      packages: {
        '': { name: 'shop', dependencies: { mine: '3.0.0' } },
        a: { version: '1.0.2' },
        b: { version: '2.0.0' },
        mine: { version: '3.0.0' },
        theirs: { version: '4.0.0' },
      },
    });
  });
});

describe('.env.example', () => {
  const base = '# Head.\n\n# The port.\n# PORT=1\n\n# The host.\n# HOST=a\n';

  it.each([
    [
      'a new setting of yours, where you put it',
      base.replace('\n\n# The host', '\n\n# Mine.\n# MINE=1\n\n# The host'),
      base.replace('PORT=1', 'PORT=2'),
      '# Head.\n\n# The port.\n# PORT=2\n\n# Mine.\n# MINE=1\n\n# The host.\n# HOST=a\n',
    ],
    [
      'a setting that you changed',
      base.replace('HOST=a', 'HOST=b'),
      base.replace('PORT=1', 'PORT=2'),
      '# Head.\n\n# The port.\n# PORT=2\n\n# The host.\n# HOST=b\n',
    ],
    ['a setting less', base, '# Head.\n\n# The host.\n# HOST=a\n', '# Head.\n\n# The host.\n# HOST=a\n'],
    [
      'a setting less that you removed',
      '# Head.\n\n# The host.\n# HOST=a\n',
      `${base}\n# New.\n# NEW=1\n`,
      '# Head.\n\n# The host.\n# HOST=a\n\n# New.\n# NEW=1\n',
    ],
    [
      'the same change of both sides',
      base.replace('HOST=a', 'HOST=b'),
      base.replace('HOST=a', 'HOST=b'),
      base.replace('HOST=a', 'HOST=b'),
    ],
  ])('gets %s', (_, ours, theirs, expected) => {
    expect(mergeSettings(base, ours, theirs)).toBe(expected);
  });

  it('is left to git if both sides changed a setting', () => {
    expect(mergeSettings(base, base.replace('HOST=a', 'HOST=b'), base.replace('HOST=a', 'HOST=c'))).toBeUndefined();
  });
});
