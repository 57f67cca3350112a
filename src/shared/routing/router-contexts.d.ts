// React Router's internal module of contexts, under the name given by `build/react-router.mjs`. The package itself
// exports only some of them.
declare module 'spillway:router-contexts' {
  import type { Context } from 'react';

  export {
    UNSAFE_DataRouterContext as DataRouterContext,
    UNSAFE_DataRouterDataContext as DataRouterDataContext,
    UNSAFE_DataRouterNavigationContext as DataRouterNavigationContext,
    UNSAFE_DataRouterStateContext as DataRouterStateContext,
    UNSAFE_FetchersContext as FetchersContext,
    UNSAFE_LocationContext as LocationContext,
    UNSAFE_NavigationContext as NavigationContext,
    UNSAFE_RouteContext as RouteContext,
  } from 'react-router';
  export const IsDataRouteContext: Context<boolean>;
  export const RouteIdContext: Context<string | undefined>;
  export const RouteErrorContext: Context<unknown>;
}
