export interface Order {
  readonly id: string;
  readonly customer: { readonly name: string; readonly address: { readonly city: string } };
  readonly lines: readonly { readonly sku: string; readonly price: { readonly amount: number } }[];
}

const rows = new Map<string, unknown>([
  ['1', { id: '1', lines: [] }],
  ['2', { id: '2', lines: [] }],
  ['3', { id: '3', lines: [{ sku: 'a' }] }],
]);

export function findOrder(id: number): Order {
  return rows.get(String(id)) as Order;
}
