/** Tags of an event from a browser, which the tunnel reads and does not pass on. */
export const REPORT_TAGS = {
  /** A kind that has a key of its own, such as `hydration`. */
  kind: 'spillway.kind',
  /** The address of the server's failure that is shown: `7K3QM2XA-9F4W0R6B`. */
  echo: 'spillway.echo',
  build: 'spillway.build',
} as const;
