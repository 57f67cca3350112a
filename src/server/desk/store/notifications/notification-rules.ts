/** A receiver of notifications. The store has none of its secrets. */
export interface NotificationTarget {
  /** Stays the same on all replicas and after a restart. */
  readonly id: string;
  /** The name in the list of notifications, for example `webhook hooks.example.com`. */
  readonly name: string;
}

/** When the desk sends notifications, and to which targets. */
export interface NotificationRules {
  /** How often an incident must have happened. */
  readonly after: number;
  /** Without targets, incidents still count as notified, so that a target that is added later gets only newer ones. */
  readonly targets: readonly NotificationTarget[];
  /** Leaves notifications to a server, because the targets are not known here, for example in the terminal. */
  readonly isLeft?: boolean;
}
