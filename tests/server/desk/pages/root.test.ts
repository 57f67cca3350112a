import { describe, expect, it } from 'vitest';
import type { Role } from '../../../../src/server/access/operator-tokens.ts';
import type { DeskContext } from '../../../../src/server/desk/pages/context.ts';
import { root } from '../../../../src/server/desk/pages/root.ts';

function guard(method: string, role: Role | undefined): unknown {
  const operator = role && { name: 'ada', role };
  const context = { access: { operator, isAway: false, canSignOut: true } } as DeskContext; // all that it reads
  const request = new Request('http://localhost/desk', { method });
  try {
    root.guard({ request, url: new URL(request.url), params: {}, context, signal: request.signal, isPrefetch: false });
    return 'passes';
  } catch (error) {
    return (error as { kind?: string }).kind;
  }
}

describe('the guard of every desk page', () => {
  it.each([
    ['GET', undefined, 'unauthorized'],
    ['POST', undefined, 'unauthorized'],
    ['GET', 'viewer', 'passes'],
    ['POST', 'viewer', 'forbidden'],
    ['GET', 'operator', 'passes'],
    ['POST', 'operator', 'passes'],
  ] as const)('answers %s of %s: %s', (method, role, answer) => {
    expect(guard(method, role)).toBe(answer);
  });

  it('protects every action except sign-in and sign-out', () => {
    expect([...root.openActions].sort()).toEqual(Object.keys(root.actions).sort());
    expect([...root.openActions]).toEqual(['signIn', 'signOut']);
  });
});
