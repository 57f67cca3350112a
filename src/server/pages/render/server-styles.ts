/** The styles that the components of one render collect with `useServerStyles()`. */
export class ServerStyles {
  readonly #collectors: (() => string)[] = [];

  add(collect: () => string): void {
    this.#collectors.push(collect);
  }

  /** Returns the HTML of the styles since the last call. @throws what a component's function throws */
  take(): string {
    return this.#collectors.map((collect) => requireText(collect())).join('');
  }
}

/** Neither the build nor `npm run dev` runs the compiler. */
function requireText(html: unknown): string {
  if (typeof html === 'string') return html;
  throw new TypeError(
    `The function of useServerStyles() returned ${html === undefined ? 'undefined' : `a value of type ${typeof html}`}. Return the HTML of the styles as a string, or '' if there are none.`,
  );
}
