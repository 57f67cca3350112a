/** Tags of browser events, which the tunnel reads and does not forward. */
export const REPORT_TAGS = {
  /** A kind with its own grouping key, such as `hydration`. */
  kind: 'spillway.kind',
  /** The address of the server's failure that the page shows: `7K3QM2XA-9F4W0R6B`. */
  echo: 'spillway.echo',
  build: 'spillway.build',
} as const;
