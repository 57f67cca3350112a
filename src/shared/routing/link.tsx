import type { ComponentProps, ReactNode } from 'react';
import { jsx } from 'react/jsx-runtime';
import { useLocation } from 'react-router';

/** When a link's page is prefetched: on hover, focus or touch; when it scrolls into view; on render; never. */
type PrefetchKind = 'intent' | 'viewport' | 'render' | 'none';

interface LinkProps extends Omit<ComponentProps<'a'>, 'href'> {
  /** A path on this site (`/orders?page=2`), `?search` or `#hash`, resolved by the browser as in any link. */
  readonly to: string;
  readonly prefetch?: PrefetchKind;
  /** Replaces the history entry. */
  readonly replace?: boolean;
  /** Keeps the scroll position. */
  readonly preventScrollReset?: boolean;
}

/**
 * A link within the site. It renders a plain anchor, and a single listener on the window handles the clicks. A page with
 * a thousand links therefore renders as fast as one with a thousand anchors, and a click before hydration is an ordinary
 * navigation.
 */
export function Link(props: LinkProps): ReactNode {
  const anchor: Record<string, unknown> = { href: props.to, 'data-link': props.prefetch ?? 'intent' };
  for (const name in props) {
    if (!OWN_PROPS.has(name)) anchor[name] = props[name as keyof LinkProps];
  }
  if (props.replace) anchor['data-replace'] = '';
  if (props.preventScrollReset) anchor['data-keep-scroll'] = '';
  // Calling `jsx` uses the object as the props. A spread in JSX would copy it again for every link.
  return jsx('a', anchor);
}

const OWN_PROPS = new Set(['to', 'prefetch', 'replace', 'preventScrollReset']);

interface NavLinkProps extends LinkProps {
  /** Marks the link only on the page itself, not on pages below it. */
  readonly end?: boolean;
}

/** A link that marks the current page: `aria-current="page"`, or `"true"` on a page below it. */
export function NavLink({ end = false, ...props }: NavLinkProps): ReactNode {
  const { pathname } = useLocation();
  const given = props.to.replace(/[?#].*$/s, '') || pathname;
  // Paths are encoded. An ASCII one is already, and most are.
  const path = /[^ -~]/.test(given) ? new URL(given, 'http://a').pathname : given;
  const isBelow = !end && path !== '/' && pathname.startsWith(`${path}/`);
  const current = pathname === path ? 'page' : isBelow ? 'true' : undefined;
  return Link({ 'aria-current': current, ...props });
}
