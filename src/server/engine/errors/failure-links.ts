/** Where a failure is shown to people. */
export interface FailureLinks {
  /**
   * Returns a path of this site, or an absolute URL. Undefined if there is none.
   *
   * @param address `7K3QM2XA-9F4W0R6B`
   */
  toUrl(address: string): string | undefined;
  /** Whether every visitor sees the URL on an error page. Otherwise only operators do. */
  readonly arePublic: boolean;
}

export const NO_LINKS: FailureLinks = { toUrl: () => undefined, arePublic: false };
