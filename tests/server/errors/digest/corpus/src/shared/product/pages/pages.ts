import { findOrder } from '../orders/order-store.ts';

export interface Args {
  params: { id: number };
  user?: { id: string; cart: { total: number } };
}

export const orderPage = {
  loader({ params }: Args): { name: string } {
    const order = findOrder(params.id);
    return { name: order.customer.name };
  },
  actions: {
    remove: ({ params, user }: Args) => {
      if (!user) throw new Error('Sign in to remove an order');
      return params.id;
    },
  },
};

type Handler = (args: Args) => unknown;

export function createRoutes(): Map<string, Handler> {
  const routes = new Map<string, Handler>();
  const on = (path: string, handler: Handler) => routes.set(path, handler);
  on('/cart', ({ user }) => {
    const total = user!.cart.total;
    return total + 1;
  });
  on('/checkout', ({ user }) => {
    const total = user!.cart.total;
    return total * 2;
  });
  return routes;
}

export default function (args: Args): string {
  const { cart } = args.user as { cart: { total: number } };
  return `${cart.total}`;
}
