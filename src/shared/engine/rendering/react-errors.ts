/** What React's production build says with a number, where it mends a page by rendering it anew (https://react.dev/errors). */
export const REACT_MESSAGES: Readonly<Record<string, string>> = {
  418: "The %s that the server rendered is not what the browser rendered. React rendered the page's part anew.",
  419: 'The server could not finish this Suspense boundary. React rendered it in the browser.',
  422: 'Something threw while this Suspense boundary was hydrated. React rendered it in the browser.',
  423: 'Something threw while the page was hydrated, outside of any Suspense boundary. React rendered all of it anew.',
  424: 'Text that the server rendered is not what the browser rendered. React rendered all of the page anew.',
  520: 'Something threw while React rendered in pieces, and not when it rendered all at once.',
};

/** What one of React's messages means, with what it tells of the difference; undefined where that is all it says. */
export function explainReactError(message: string): string | undefined {
  const [, code = '', query = ''] =
    /React error #(\d+); visit https:\/\/react\.dev\/errors\/\d+(\S*)/.exec(message) ?? [];
  const [what = 'markup', ...rest] = new URLSearchParams(query).getAll('args[]');
  const words = REACT_MESSAGES[code]?.replace('%s', what);
  return words && [words, ...rest.filter(Boolean)].join(' ');
}
