import type { ChangeShape } from '../../shared/shapes.ts';
import { toExactTime, toPlural, toStateDetail } from '../../shared/words.ts';
import type { ChangeAction, Deletion, LoggedChange, Note } from '../store/history-table.ts';
import type { Incident } from '../store/records.ts';

/** Merges notes and changes into one list, newest first. */
export function presentChanges(changes: readonly LoggedChange[], notes: readonly Note[]): ChangeShape[] {
  return [...changes.map(presentChange), ...notes.map(presentNote)].sort((left, right) => right.at - left.at);
}

export function presentNote({ id, at, author, text }: Note): ChangeShape {
  return { id: `note-${id}`, at, by: author || ITSELF, words: 'wrote', note: { id, text } };
}

function presentChange({ id, at, author, action, detail }: LoggedChange): ChangeShape {
  // After a rollback, the history can have changes that a later release made.
  const words = Object.hasOwn(CHANGE_WORDS, action) ? CHANGE_WORDS[action](detail) : `changed it (${action})`;
  return { id: `change-${id}`, at, by: author || ITSELF, words };
}

/** The author of automatic changes. */
const ITSELF = 'The desk';

const CHANGE_WORDS: Readonly<Record<ChangeAction, (detail: LoggedChange['detail']) => string>> = {
  opened: () => 'reopened it',
  resolved: (detail) => (detail.in === 'next' ? 'resolved it in the next release' : 'resolved it'),
  ignored: ({ until, untilMore }) =>
    `ignored it ${toStateDetail({
      state: 'ignored',
      ...(typeof until === 'number' && { ignoredUntil: until }),
      ...(typeof untilMore === 'number' && { ignoredUntilMore: untilMore }),
    })}`,
  regressed: ({ release }) => `reopened it: it came back${release ? ` in ${release}` : ''}`,
  grown: ({ count }) =>
    `reopened it: it happened ${toPlural(Number(count) || 0, 'more time', 'more times')} within an hour`,
  'ignore-ended': () => 'reopened it: the ignore period ended',
  deleted: ({ count }) => `deleted it, with ${toPlural(Number(count) || 0, 'occurrence')}`,
  'occurrence-deleted': ({ occurrence }) => `deleted the occurrence ${occurrence}`,
  'note-deleted': () => 'deleted a note',
};

/** Describes the current state of an incident: `resolved, last by vera at 2026-11-21 20:31:07 UTC`. */
export function toStandingWords({ state, stateBy, stateAt }: Incident): string {
  const who = stateBy ?? 'the desk';
  const when = stateAt === undefined ? '' : ` at ${toExactTime(stateAt)}`;
  return `${state}, last by ${who}${when}`;
}

export function toDeletedWords({ author, at }: Deletion): string {
  return `This incident was deleted by ${author} at ${toExactTime(at)}. If it happens again, it is a new incident.`;
}
