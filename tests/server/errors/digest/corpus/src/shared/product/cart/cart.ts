export interface Item {
  sku: string;
  product: { price: { amount: number }; tags: string[] };
}

export class Cart {
  readonly items: Item[];
  #discount: { rate: number } | undefined;

  constructor(items: Item[]) {
    if (items.length > 100) throw new Error(`A cart of ${items.length} items is too large`);
    this.items = items;
  }

  get total(): number {
    let sum = 0;
    for (const item of this.items) sum += item.product.price.amount;
    return sum;
  }

  checkout(): string {
    const rate = this.#rate();
    return `${rate * 100} %`;
  }

  #rate(): number {
    const { rate } = this.#discount as { rate: number };
    return rate + this.items.length;
  }

  tags(): string[] {
    return this.items.map((item) => item.product.tags.join(','));
  }

  onChange = (listener: { notify(total: number): void }): void => {
    listener.notify(this.items.length);
    this.items.length = 0;
  };

  *prices(): Generator<number> {
    for (const item of this.items) {
      if (item.sku.startsWith('x')) throw new Error(`The price of ${item.sku} is not known`);
      yield item.product.price.amount;
    }
  }
}

export function cheapest(items: readonly Item[]): Item {
  return items.reduce((left, right) => (left.product.price.amount < right.product.price.amount ? left : right));
}
