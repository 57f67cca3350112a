import { useId } from 'react';
import type { ActionResult } from '#engine';
import styles from './field.module.css';

interface FieldProps {
  label: string;
  name: string;
  /** The result of the form's action, with errors and typed values. */
  result?: ActionResult;
  type?: 'text' | 'email';
  multiline?: boolean;
  autoComplete?: string;
}

/** A labelled input with its error message. */
export function Field({ label, name, result, type = 'text', multiline = false, autoComplete }: FieldProps) {
  const id = useId();
  const error = result?.errors?.[name];
  const isWrong = error ? true : undefined;
  const typed = result?.errors ? result.values?.[name] : undefined;
  const shared = {
    id,
    name,
    autoComplete,
    defaultValue: typeof typed === 'string' ? typed : '',
    // Without JavaScript, the browser goes to the first one.
    autoFocus: isWrong,
    'aria-invalid': isWrong,
    'aria-describedby': error ? `${id}-error` : undefined,
  };
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {multiline ? <textarea rows={4} {...shared} /> : <input type={type} {...shared} />}
      {error && (
        <p className={styles.error} id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}
