import { Form, useActionResult } from '../../actions.ts';
import { MAX_NOTE_LENGTH } from '../../choices.ts';
import type { IncidentData } from '../../page-data.ts';
import { Ago } from '../../ui/ago.tsx';
import { Panel } from '../../ui/panel.tsx';
import styles from './changes.module.css';

/** Notes and changes, latest first. */
export function Changes({ of: { changes, canChange, now } }: { readonly of: IncidentData }) {
  return (
    <Panel title="Notes and changes">
      {canChange && <NewNote />}
      {changes.length === 0 ? (
        <p className="quiet">No activity yet.</p>
      ) : (
        <ol className={styles.list}>
          {changes.map(({ id, at, by, words, note }) => (
            <li key={id}>
              <p className="quiet">
                <strong>{by}</strong> {words} <Ago at={at} now={now} />
              </p>
              {note && <p className={styles.note}>{note.text}</p>}
              {note && canChange && (
                <Form action="incident.removeNote" preventScrollReset>
                  <input type="hidden" name="id" value={note.id} />
                  <button type="submit" className={styles.small} aria-label={`Delete the note of ${by}`}>
                    Delete
                  </button>
                </Form>
              )}
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}

function NewNote() {
  const outcome = useActionResult('incident.addNote');
  const error = outcome?.errors?.note;
  const typed = outcome?.errors ? outcome.values?.note : undefined;
  return (
    <Form action="incident.addNote" className={styles.form} reset preventScrollReset>
      <label className="unseen" htmlFor="note">
        Note
      </label>
      <textarea
        id="note"
        name="note"
        rows={2}
        placeholder="Add a note: findings, fixes, links"
        maxLength={MAX_NOTE_LENGTH}
        required
        defaultValue={typeof typed === 'string' ? typed : ''}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? 'note-error' : undefined}
      />
      {error && (
        <p id="note-error" className="bad">
          {error}
        </p>
      )}
      <button type="submit">Add note</button>
    </Form>
  );
}
