/** Options of the build: see docs/recipes/extending.md. The moves keep the digests of code that was renamed. */
export default {
  moves: [
    ['src/shared/product/pages/failures/addresses.tsx', 'src/shared/product/ui/break-something.tsx'],
    ['src/shared/product/ui/break-something.tsx#Addresses', 'src/shared/product/ui/break-something.tsx#BreakSomething'],
    [
      'src/shared/product/ui/break-something.tsx#BreakSomething.fail',
      'src/shared/product/ui/break-something.tsx#BreakSomething.request',
    ],
    ['src/shared/product/ui/ask.tsx#Ask.ask', 'src/shared/product/ui/ask.tsx#Ask.send'],
    [
      'src/shared/product/pages/late-outcomes/late-not-found.tsx',
      'src/shared/product/pages/late-responses/late-not-found.tsx',
    ],
    [
      'src/shared/product/pages/late-outcomes/late-redirect.tsx',
      'src/shared/product/pages/late-responses/late-redirect.tsx',
    ],
  ],
};
