import { Link } from '#engine';

export function Prefetches() {
  return (
    <ul>
      <li>
        <Link to="/tour/layout" prefetch="intent">
          On intent
        </Link>
        : when you point at it, focus it or touch it
      </li>
      <li>
        <Link to="/tour/layout/arch" prefetch="render">
          At render
        </Link>
        : as soon as this page is shown
      </li>
      <li>
        <Link to="/tour/streaming" prefetch="none">
          Never
        </Link>
        : only when you click
      </li>
      <li>
        In the viewport: a link <a href="#delta">at the end of this page</a> is prefetched when you see it
      </li>
    </ul>
  );
}
