import { Link, type PageProps } from '#engine';

const HEADS = ['Order', 'Placed', 'Customer', 'State', 'Total'];

export interface OrdersData {
  search: string;
  orders: { id: string; placed: Date; customer: string; state: string; cents: number }[];
}

export default function Orders({ data: { search, orders } }: PageProps<OrdersData>) {
  return (
    <>
      <title>{`Orders: ${search}`}</title>
      <form method="get">
        <label htmlFor="search">Search</label>
        <input id="search" name="q" defaultValue={search} />
        <button type="submit">Search</button>
      </form>
      <table>
        <thead>
          <tr>
            {HEADS.map((head) => (
              <th key={head}>{head}</th>
            ))}
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
