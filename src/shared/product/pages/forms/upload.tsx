import { useUploadProgress } from '#engine';
import { Form, useActionResult } from '../../forms.ts';
import { FormError } from '../../ui/form-error.tsx';
import { usePending } from '../../ui/use-pending.ts';
import styles from './forms.module.css';

/** A multipart form of up to 64 MB in total. The server keeps a large file on disk until it has answered. */
export function Upload() {
  const result = useActionResult('forms.upload');
  const pending = usePending('forms.upload');
  const progress = useUploadProgress();
  const file = result?.data;
  const error = result?.errors?.file;
  return (
    <section className={styles.section} id="upload">
      <h2>A file</h2>
      <Form action="forms.upload" method="post" encType="multipart/form-data">
        <p>
          <label htmlFor="upload-file">A file under 64 MB</label>
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
        {pending && <progress className={styles.progress} value={progress} aria-label="Upload" />}
        <p id="upload-answer" role="status">
          {error ??
            (file && `${file.name}: ${file.bytes} bytes, ${file.type || 'unknown type'}, SHA-256 ${file.hash}…`)}
        </p>
        <FormError result={result} />
      </Form>
    </section>
  );
}
