import type { DeskLinks } from './links.ts';

/** Facts about this server, and its settings that the desk shows. */
export interface DeskFacts {
  readonly environment: string;
  readonly release: string;
  readonly links: DeskLinks;
  /** The names of the targets of notifications. */
  readonly targets: readonly string[];
}
