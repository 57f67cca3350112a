import { Form, useActionOutcome } from '../../actions.ts';
import { usePending } from '../../ui/use-pending.ts';
import styles from './forms.module.css';

/** Multipart, with a limit of 1 MB for the whole form. */
export function Upload() {
  const outcome = useActionOutcome('forms.upload');
  const pending = usePending('forms.upload');
  const file = outcome?.data;
  const error = outcome?.errors?.file;
  return (
    <section className={styles.section} id="upload">
      <h2>A file</h2>
      <Form action="forms.upload" method="post" encType="multipart/form-data">
        <p>
          <label htmlFor="upload-file">A file of less than 1 MB</label>
          <input
            id="upload-file"
            type="file"
            name="file"
            aria-invalid={error ? true : undefined}
            aria-describedby="upload-answer"
          />
        </p>
        <button type="submit" disabled={pending}>
          {pending ? 'Uploading…' : 'Upload'}
        </button>
        <p id="upload-answer" role="status">
          {error ?? (file && `${file.name}: ${file.bytes} bytes of ${file.type || 'no known type'}. It was not kept.`)}
        </p>
      </Form>
    </section>
  );
}
