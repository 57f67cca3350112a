// The modules that `build/react-router.mjs` makes of React Router's own.
declare module 'spillway:router' {
  export { UNSAFE_createRouter as createRouter } from 'react-router';
}

declare module 'spillway:history' {
  export { UNSAFE_createBrowserHistory as createBrowserHistory } from 'react-router';
}
