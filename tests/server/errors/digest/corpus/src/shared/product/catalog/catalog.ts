import { connect, parseMoney } from 'money';
import { AppError } from '../app-error.ts';

export interface Category {
  name: string;
  parent?: Category;
  children: Category[];
}

export function depth(category: Category): number {
  const parent = category.parent ? depth(category.parent) : 0;
  return parent + 1;
}

export function countItems(category: Category): number {
  let sum = 0;
  for (const child of category.children) sum += countBranch(child) + 1;
  return sum;
}

function countBranch(category: Category): number {
  const inner = countItems(category);
  return inner * 2;
}

export function price(text: string): string {
  const { amount, currency } = parseMoney(text);
  return `${amount} ${currency}`;
}

export async function openStore(host: string): Promise<void> {
  await connect(host);
  console.log(host);
}

export async function fastest(mirrors: readonly string[]): Promise<string> {
  const name = await Promise.any(mirrors.map((mirror) => Promise.reject(new Error(`${mirror} is down`))));
  return `${name}!`;
}

export function checkAll(names: readonly string[]): void {
  const errors = names.map((name) => new TypeError(`${name} is not valid`));
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} names are not valid`);
}

export function publishedAt(text: string): string {
  const date = new Date(text);
  return `at ${date.toISOString()}`;
}

export function share(base: string): string {
  const url = new URL(`/share?x=${base.length}`, base);
  return url.href + '#';
}

export function search(query: string): string {
  const words = decodeURIComponent(query);
  return words.trim();
}

export function rounded(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return `${text} EUR`;
}

export async function* pages(count: number): AsyncGenerator<number> {
  for (let page = 1; page <= count; page += 1) {
    if (page === 3) throw new AppError(`Page ${page} of ${count} could not be read.`);
    yield page;
  }
}

export async function readPages(count: number): Promise<number> {
  let sum = 0;
  for await (const page of pages(count)) sum += page;
  return sum;
}

export function firstChild(text: string): Promise<string> {
  return Promise.resolve(JSON.parse(text) as Category)
    .then((category) => category.children[0]!.parent!.name)
    .then((name) => name.toUpperCase());
}

export const cached = memo(async (key: string) => {
  await null;
  if (key) throw new Error(`The key ${key} was evicted`);
  return key;
});

function memo<Result>(load: (key: string) => Promise<Result>): (key: string) => Promise<Result> {
  const known = new Map<string, Promise<Result>>();
  return (key) => {
    const value = known.get(key) ?? load(key);
    known.set(key, value);
    return value;
  };
}

export async function stock(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/stock`);
  return response.text();
}

export function names(categories: Iterable<Category> | undefined): string[] {
  const found: string[] = [];
  for (const { name } of categories!) found.push(name);
  return found;
}

export function line(width: number): string {
  const dashes = '-'.repeat(-width);
  return `${dashes}+`;
}

export function shelves(count: number): unknown[] {
  const all = new Array(-count);
  return all.fill(0);
}

export function snapshot(category: Category, listener: () => void): unknown {
  const copy = structuredClone({ ...category, listener });
  return [copy];
}

export async function refresh(seconds: number): Promise<void> {
  const signal = AbortSignal.timeout(seconds);
  await new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    setTimeout(resolve, 500);
  });
}

export function bestOf(categories: Category[]): string {
  const best = categories.find((category) => category.children.length > 3);
  return best!.name.toUpperCase();
}

export const loaders = {
  async list(filter: { tags?: string[] }): Promise<string> {
    const tags = await Promise.all(filter.tags!.map(async (tag) => tag.trim()));
    return tags.join();
  },
  async one(id: number): Promise<string> {
    const [first] = await Promise.all([Promise.resolve(id), Promise.reject(new AppError(`No category ${id}`, 404))]);
    return String(first);
  },
};
