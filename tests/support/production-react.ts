import { createRequire } from 'node:module';

// React's development build writes messages and stacks into the page. To test what visitors get, import this file
// before anything that imports React. The test runner compiles JSX for development.
process.env.NODE_ENV = 'production';

const require = createRequire(import.meta.url);
const forDevelopment = require('react/jsx-dev-runtime') as { jsxDEV?: unknown };
const forProduction = require('react/jsx-runtime') as {
  jsx: (type: unknown, props: unknown, key?: unknown) => unknown;
};
forDevelopment.jsxDEV = (type: unknown, props: unknown, key?: unknown) => forProduction.jsx(type, props, key);
