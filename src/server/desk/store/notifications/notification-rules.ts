/** Where messages go. The store knows no secret of it. */
export interface NoticeTarget {
  /** The same as long as it is the same target, on all replicas and after a restart. */
  readonly id: string;
  /** `webhook hooks.example.com`: what the record calls it. */
  readonly name: string;
}

/** When the desk notifies, and whom. */
export interface NotificationRules {
  /** How often an incident must have happened (count). */
  readonly after: number;
  /** Without targets, new incidents still count as known, so that a target that is added later gets only newer ones. */
  readonly targets: readonly NoticeTarget[];
  /** The targets are not known here, as in the terminal: new incidents are left to a server. */
  readonly isLeft?: boolean;
}
