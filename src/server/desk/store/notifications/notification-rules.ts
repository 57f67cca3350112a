/** A receiver of notifications. The store has none of its secrets. */
export interface NotificationTarget {
  /** Stays the same on all replicas and after a restart. */
  readonly id: string;
  /** The name in the list of notifications, for example `webhook hooks.example.com`. */
  readonly name: string;
  /** The name of the operator, if it is a single person's. */
  readonly person?: string;
}

/** A number of occurrences, or of visitors. */
export interface Threshold {
  readonly count: number;
  readonly of?: 'visitors';
  /** Only occurrences in a period of this length count (ms). */
  readonly within?: number;
}

/** When the desk sends notifications, and to which targets. */
export interface NotificationRules {
  /** An incident is notified of when it reaches one of these. */
  readonly after: readonly Threshold[];
  /** Without targets, incidents still count as notified, so that a target that is added later gets only newer ones. */
  readonly targets: readonly NotificationTarget[];
  /** The targets of operators, for the incidents that they are assigned to. */
  readonly people?: readonly NotificationTarget[];
  /** Leaves notifications to a server, because the targets are not known here, for example in the terminal. */
  readonly isLeft?: boolean;
}
