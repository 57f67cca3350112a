import type { AnchorHTMLAttributes, ReactNode } from 'react';
import { jsx } from 'react/jsx-runtime';
import { useLocation } from 'react-router';

/** When a link's page is fetched ahead: on hover, focus or touch; when it scrolls into view; as it renders; never. */
export type PrefetchKind = 'intent' | 'viewport' | 'render' | 'none';

export interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  /** A path of this site (`/orders?page=2`), `?search` or `#hash`; resolved by the browser, as in any link. */
  readonly to: string;
  readonly prefetch?: PrefetchKind;
  /** Replace the entry in the history. */
  readonly replace?: boolean;
  /** Leave the page where it is scrolled to. */
  readonly preventScrollReset?: boolean;
  readonly children?: ReactNode;
}

/**
 * A link inside the site. It is a plain anchor: the browser's half listens on the window and takes
 * the click, so that a page of a thousand links renders as fast as one of a thousand anchors, and a
 * click before hydration is an ordinary navigation.
 */
export function Link(props: LinkProps): ReactNode {
  const anchor: Record<string, unknown> = { href: props.to, 'data-link': props.prefetch ?? 'intent' };
  for (const name in props) {
    if (!OWN_PROPS.has(name)) anchor[name] = props[name as keyof LinkProps];
  }
  if (props.replace) anchor['data-replace'] = '';
  if (props.preventScrollReset) anchor['data-keep-scroll'] = '';
  // Called as a function, `jsx` takes the object as the props: a spread would copy it once more, for every link of a page.
  return jsx('a', anchor);
}

const OWN_PROPS = new Set(['to', 'prefetch', 'replace', 'preventScrollReset']);

export interface NavLinkProps extends LinkProps {
  /** Only the page itself counts, and no page below it. */
  readonly end?: boolean;
}

/** A link that knows whether its page is the one shown: `aria-current="page"`, or `"true"` for a page below it. */
export function NavLink({ end = false, ...props }: NavLinkProps): ReactNode {
  const { pathname } = useLocation();
  const path = props.to.replace(/[?#].*$/, '');
  const isBelow = !end && path !== '/' && pathname.startsWith(`${path}/`);
  const current = pathname === path ? 'page' : isBelow ? 'true' : undefined;
  return <Link aria-current={current} {...props} />;
}
