import { describe, expect, it } from 'vitest';
import { groupSheets } from '../../build/styles.mjs';

const listsOf = (users: Record<string, string[]>) => {
  const { groups, groupsByUser } = groupSheets(new Map(Object.entries(users)));
  const lists = Object.keys(users).map((user) =>
    (groupsByUser.get(user) ?? []).flatMap((index) => groups[index] ?? []),
  );
  return { groups, lists };
};

describe('groupSheets', () => {
  it('gives each module its sheets in order', () => {
    const users = { layout: ['base', 'button', 'layout'], home: ['button', 'home'], form: ['button', 'field', 'form'] };
    expect(listsOf(users).lists).toEqual(Object.values(users));
  });

  it('contains each sheet once', () => {
    const { groups } = listsOf({ a: ['x', 'y', 'a'], b: ['y', 'x', 'b'], c: ['x', 'c'] });
    expect(groups.flat().sort()).toEqual(['a', 'b', 'c', 'x', 'y']);
  });

  it('joins adjacent sheets that the same modules use', () => {
    const { groups } = listsOf({ a: ['x', 'y', 'a'], b: ['x', 'y', 'b'] });
    expect(groups).toContainEqual(['x', 'y']);
  });
});
