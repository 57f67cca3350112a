import { AppError } from '../app-error.ts';

export interface Profile {
  name: string;
  settings: { theme: { color: string }; notify?: (text: string) => void; [key: string]: unknown };
}

export function readSession(cookie: string): { header: unknown; body: unknown } {
  const [head, body] = cookie.split('|');
  const header = JSON.parse(head ?? '');
  const content = JSON.parse(body ?? '');
  return { header, body: content };
}

export function readTheme(text: string): unknown {
  return JSON.parse(text);
}

function fetchProfile(id: number): Profile {
  const rows = [undefined, { name: 'Ann' }] as unknown as Profile[];
  if (id > 10) throw Object.assign(new Error(`connect ECONNREFUSED 10.0.0.${id}:5432`), { code: 'ECONNREFUSED' });
  const row = rows[0] as Profile;
  row.settings.theme.color = 'red';
  return row;
}

export function loadProfile(id: number): Profile {
  try {
    return fetchProfile(id);
  } catch (cause) {
    throw new AppError(`The profile ${id} could not be loaded.`, 500, { cause });
  }
}

export function notify(profile: Profile, n: number): void {
  const text = 'hello '.repeat(n);
  profile.settings.notify!(text);
  console.log(text);
}

export function greet(profile: { format?: (name: string) => string; name: string }, translate: (key: string) => string): string {
  const words = translate('hello');
  return `${words} ${profile.name}`;
}

export function setting(profile: { sections: Record<string, Record<string, { value: string }>> }, section: string, key: string): string {
  const all = profile.sections;
  const found = all[section]![key];
  return `${found}`;
}

export function compare(left: Profile, right: { badge: { level: number } }): string {
  const color = left.settings.theme.color;
  const level = right.badge.level;
  return `${color} ${level}`;
}

export function track(event: string): void {
  // @ts-expect-error: defined by a script that did not load
  analyticsQueue.push(event);
  console.log(event);
}

export function rename(profile: Readonly<Profile>, name: string): void {
  (profile as Profile).name = name;
  console.log(name);
}

export function initials([first, last]: [string, string]): string {
  return `${first[0]}${last[0]}`;
}

export function merge(left: string[], right: string[] | undefined): string[] {
  const both = [...left, ...right!];
  both.sort();
  return both;
}

export function signIn(name: string): never {
  if (name.includes('@')) throw `Wrong password for ${name}`;
  throw { message: 'The account is locked', until: Date.now() };
}

export function requireAdmin(user: { role: string; age: number }, rules = failWithout(user.role)): string {
  return rules + user.age;
}

function failWithout(role: string): string {
  if (role !== 'admin') throw new Error(`${role} may not do this`);
  return role;
}

export function permissions(user: object): string[] {
  const names = Object.keys((user as { roles: object }).roles);
  return names.reverse();
}

export function isAdmin(user: { role: unknown }): boolean {
  const found = 'admin' in (user.role as object);
  return !found;
}

export function hasKind(user: object, kinds: { Admin?: new () => object }): boolean {
  const is = user instanceof kinds.Admin!;
  return !is;
}

export function createRole(roles: { Editor?: new (name: string) => object }, name: string): object {
  const role = new roles.Editor!(name);
  return [role];
}

export function balance(account: { cents: bigint }): bigint {
  const total = account.cents + (1 as unknown as bigint);
  return total * 2n;
}

export function label(user: { id: unknown }): string {
  const text = `user ${user.id}`;
  return text.trim();
}

export class Wallet {
  get amount(): number {
    return 7;
  }

  reset(amount: number): void {
    (this as { amount: number }).amount = amount;
    console.log(amount);
  }
}
