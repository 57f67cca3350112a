import { Link, type PageProps } from '#engine';

export interface OrdersData {
  search: string;
  states: string[];
  orders: { id: string; placed: Date; customer: string; state: string; cents: number }[];
}

export default function Orders({ data: { search, states, orders } }: PageProps<OrdersData>) {
  return (
    <>
      <title>{`Orders: ${search}`}</title>
      <form method="get">
        <label htmlFor="search">Search</label>
        <input id="search" name="q" defaultValue={search} />
        <select name="state" aria-label="State" defaultValue={states[1]}>
          {states.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
        <button type="submit">Search</button>
      </form>
      <table>
        <thead>
          <tr>
            <th scope="col">Order</th>
            <th scope="col">Placed</th>
            <th scope="col">Customer</th>
            <th scope="col">State</th>
            <th scope="col">Total</th>
          </tr>
        </thead>
        <tbody>
          {orders.map((order) => (
            <Row key={order.id} order={order} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function Row({ order: { id, placed, customer, state, cents } }: { order: OrdersData['orders'][number] }) {
  return (
    <tr>
      <th scope="row">
        <Link to={`/orders?q=${id}`}>{id}</Link>
      </th>
      <td>
        <time>{placed.toISOString().slice(0, 10)}</time>
      </td>
      <td>{customer}</td>
      <td data-state={state}>{state}</td>
      <td style={{ textAlign: 'end' }}>{(cents / 100).toFixed(2)} €</td>
    </tr>
  );
}
