import { AppError, NotFoundError } from '../app-error.ts';
import { assertDefined, invariant } from '../invariant.ts';
import { findOrder, type Order } from './order-store.ts';

export function requireOrder(id: number): Order {
  if (id > 0) throw new NotFoundError('order', `o-${id}`);
  return findOrder(id);
}

export function validateAddress(address: { street?: string; city?: string }): void {
  if (!address.street) {
    throw new AppError(
      'An address needs a street.',
      422,
    );
  }
  if (!address.city) {
    throw new AppError(
      'An address needs a city.',
      422,
    );
  }
}

export function deleteOrder(role: string): void {
  if (role !== 'admin') throw new Error('Not allowed');
}

export function refundOrder(role: string): void {
  if (role !== 'admin') throw new Error('Not allowed');
}

export function parseQuantity(text: string): number {
  const quantity = Number.parseInt(text, 10);
  if (Number.isNaN(quantity)) throw AppError.badRequest(`The quantity ${text} is no number.`);
  return quantity;
}

export function approve(order: { total: number; approver?: string }): void {
  invariant(order.total < 1e6, 'the total is below a million');
  invariant(order.approver, 'there is an approver');
}

export function tailChecked(order: { coupon?: string }, n: number): string {
  const prefix = 'c'.repeat(n);
  return assertDefined(order.coupon, prefix);
}

export function reserve(sku: string): Promise<void> {
  return new Promise((resolve, reject) => {
    Promise.resolve().then(() => {
      if (sku) reject(new Error(`No stock of ${sku}`));
      else resolve();
    });
  });
}

async function chargeCard(amount: number): Promise<void> {
  await null;
  if (amount > 0) throw new Error(`Card was declined for ${amount}`);
}

export async function buy(id: number): Promise<void> {
  await chargeCard(id * 100);
  console.log('bought');
}
