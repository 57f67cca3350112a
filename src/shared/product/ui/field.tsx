import { useId } from 'react';
import type { ActionOutcome } from '#engine';
import styles from './field.module.css';

interface FieldProps {
  label: string;
  name: string;
  /** What the form's action answered: brings back what was typed, and what was wrong with it. */
  outcome?: ActionOutcome;
  type?: 'text' | 'email';
  multiline?: boolean;
  autoComplete?: string;
}

/** A labelled input that shows its own error and is announced with it. */
export function Field({ label, name, outcome, type = 'text', multiline = false, autoComplete }: FieldProps) {
  const id = useId();
  const error = outcome?.errors?.[name];
  const typed = outcome?.errors ? outcome.values?.[name] : undefined;
  const shared = {
    id,
    name,
    autoComplete,
    defaultValue: typeof typed === 'string' ? typed : '',
    'aria-invalid': error ? true : undefined,
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
