/** Texts of React's numbered errors from which it recovers by rendering again (https://react.dev/errors). */
export const REACT_MESSAGES: Readonly<Record<string, string>> = {
  418: 'The %s rendered by the server does not match the browser. React rendered this part of the page again.',
  419: 'The server could not finish this Suspense boundary. React rendered it in the browser.',
  422: 'Something threw while this Suspense boundary was hydrating. React rendered it in the browser.',
  423: 'Something threw during hydration, outside of any Suspense boundary. React rendered the whole page again.',
  424: 'Text rendered by the server does not match the browser. React rendered the whole page again.',
  520: 'Something threw during a concurrent render, but not when React rendered again synchronously.',
};

/** Explains a numbered React error, with the details from its URL. Returns undefined for any other message. */
export function explainReactError(message: string): string | undefined {
  const [, code = '', query = ''] =
    /React error #(\d+); visit https:\/\/react\.dev\/errors\/\d+(\S*)/.exec(message) ?? [];
  const [what = 'markup', ...rest] = new URLSearchParams(query).getAll('args[]');
  const words = REACT_MESSAGES[code]?.replace('%s', what);
  return words && [words, ...rest.filter(Boolean)].join(' ');
}
