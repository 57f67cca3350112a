import { Link } from '#engine';

const ROWS = Array.from({ length: 400 }, (_, row) => row + 1);

/** 400 rows of six elements. */
export default function Large() {
  return (
    <table>
      <tbody>
        {ROWS.map((row) => (
          <tr key={row} className={row % 2 ? 'odd' : 'even'}>
            <td>{row}</td>
            <td>
              <Link to={`/large#row-${row}`}>Row {row}</Link>
            </td>
            <td>A sentence of some words</td>
            <td>{row * 37}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
