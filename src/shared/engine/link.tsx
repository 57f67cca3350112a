import type { AnchorHTMLAttributes, ReactNode } from 'react';
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
export function Link({ to, prefetch = 'intent', replace, preventScrollReset, ...rest }: LinkProps): ReactNode {
  return (
    <a
      {...rest}
      href={to}
      data-link={prefetch}
      data-replace={replace ? '' : undefined}
      data-keep-scroll={preventScrollReset ? '' : undefined}
    />
  );
}

/** A link that knows whether its page is the one shown: `aria-current="page"`, or `"true"` for a page below it. */
export function NavLink(props: LinkProps): ReactNode {
  const { pathname } = useLocation();
  const path = props.to.replace(/[?#].*$/, '');
  const current = pathname === path ? 'page' : path !== '/' && pathname.startsWith(`${path}/`) ? 'true' : undefined;
  return <Link aria-current={current} {...props} />;
}
