import { AppError } from '../app-error.ts';

export interface Row {
  name: string;
  tax?: { rate: number };
  parts?: Row[];
}

export class Invoice {
  #rows: Row[] = [];
  readonly meta: { owner?: { mail: string } } = {};

  static isPaid(other: object): boolean {
    const rows = (other as Invoice).#rows;
    return rows.length === 0;
  }

  get [Symbol.toStringTag](): string {
    const mail = this.meta.owner!.mail;
    return `invoice of ${mail}`;
  }

  *[Symbol.iterator](): Generator<number> {
    for (const row of this.#rows) yield row.tax!.rate;
  }

  toJSON(): object {
    const { mail } = this.meta.owner!;
    return { mail };
  }

  add(row: Row): this {
    this.#rows.push(row);
    return this;
  }

  render(format: (row: Row, at: number) => string): string {
    const lines = Array.from(this.#rows, (row, at) => {
      if (!row.name) throw new AppError(`Row ${at} has no name`);
      return format(row, at);
    });
    return lines.join('\n');
  }
}

export function taxOf(row: Row): number {
  const rate = row.parts ? row.parts[0]?.tax!.rate : row.tax!.rate;
  return (rate ?? 0) * 100;
}

export function lock<Value extends object>(value: Value): Value {
  return new Proxy(value, {
    get(target, key) {
      if (key === 'then') return undefined;
      if (!(key in target)) throw new ReferenceError(`The field ${String(key)} of ${Object.keys(target).length} is not there`);
      return Reflect.get(target, key);
    },
  });
}

export function parseRow(text: string): Row {
  try {
    const row = JSON.parse(text) as Row;
    if (typeof row.name !== 'string') throw new SyntaxError(`A row needs a name: ${text}`);
    return row;
  } catch (error) {
    if (error instanceof AppError) return { name: '' };
    throw error;
  } finally {
    Invoice.prototype.add.call(new Invoice(), { name: text });
  }
}

export async function loadRows(load: () => Promise<Row[]>): Promise<number> {
  const [result] = await Promise.allSettled([load()]);
  if (result!.status === 'rejected') throw new AppError('The rows did not come', 502, { cause: result!.reason });
  return result!.value.length;
}

export function send(row: Row): Promise<string> {
  return new Promise((resolve) => {
    const text = row.tax!.rate.toFixed(2);
    resolve(text);
  });
}

export const toRate = (row: Row): number => row.tax!.rate * 2 + 1;

export function label(strings: TemplateStringsArray, row: Row): string {
  const rate = row.tax!.rate;
  return `${strings[0]}${rate}`;
}

export function describeRow(row: Row): string {
  return label`row ${row}` + '!';
}

export function kindOf(row: { kind: string }): string {
  switch (row.kind) {
    case 'tax':
      return 't';
    case 'item':
      return 'i';
    default:
      throw new Error(`There is no kind ${row.kind}`);
  }
}

export async function retry(times: number, task: (at: number) => Promise<never>): Promise<never> {
  for (let at = 1; at < times; at += 1) {
    try {
      return await task(at);
    } catch (error) {
      if (at === times - 1) throw error;
    }
  }
  throw new Error('never tried');
}
