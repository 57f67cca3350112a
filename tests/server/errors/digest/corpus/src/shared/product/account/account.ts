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

export function signIn(name: string): never {
  if (name.includes('@')) throw `Wrong password for ${name}`;
  throw { message: 'The account is locked', until: Date.now() };
}
