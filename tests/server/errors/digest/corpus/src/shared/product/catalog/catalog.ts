import { parseMoney } from 'money';
import { AppError } from '../app-error.ts';

export interface Category {
  name: string;
  parent?: Category;
  children: Category[];
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

export async function fastest(mirrors: readonly string[]): Promise<string> {
  const name = await Promise.any(mirrors.map((mirror) => Promise.reject(new Error(`${mirror} is down`))));
  return `${name}!`;
}

export function checkAll(names: readonly string[]): void {
  const errors = names.map((name) => new TypeError(`${name} is not valid`));
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} names are not valid`);
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

export async function stock(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/stock`);
  return response.text();
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
