/** Feedback from a visitor. */
export interface Feedback {
  /** 32 hexadecimal digits. */
  readonly id: string;
  /**
   * The address of the failure that it is about: `7K3QM2XA-9F4W0R6B`, or the digest if the occurrence was
   * only counted. Earlier releases left it out if they knew the event.
   */
  readonly address?: string;
  /** The event that it is about, if the sender named one: 32 hexadecimal digits. */
  readonly eventId?: string;
  /** Up to 4,096 characters. */
  readonly text: string;
  readonly name?: string;
  /** Not scrubbed, because the visitor wants to be contacted there. */
  readonly email?: string;
  /** The URL of the page, scrubbed. */
  readonly url?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly visitor?: string;
}

/** Feedback whose failure is not known yet. */
export type GivenFeedback = Omit<Feedback, 'address'>;

/** The subject of the feedback, according to its sender: the address on the page, or the id of an event. */
export type About = { readonly address: string } | { readonly eventId: string };

export type KeptFeedback = 'kept' | 'unknown' | 'limited' | 'failed';

export interface KeepFeedback {
  /**
   * Counts one attempt of a sender.
   *
   * @param sender `toSender()` of the address
   * @returns 0, or the milliseconds until the sender can try again
   */
  takeTurn(sender: string): number;
  /**
   * Journals feedback about a failure of the last day in this environment. Anything else is dropped, because
   * strangers can send it.
   *
   * @throws StoreAwayError
   */
  keep(given: GivenFeedback, about: About, sender: string): Promise<KeptFeedback>;
}
