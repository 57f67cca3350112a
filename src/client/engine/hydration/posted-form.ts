import { startTransition } from 'react';
import { requestFormReset } from 'react-dom';
import { isTextField } from '../navigation/is-text-field.ts';

/** Handles a form after its background post is answered. */
export interface PostedForm {
  /** Call it when the form is sent. `navigation` settles when the router has finished or abandoned it. */
  follow(form: HTMLFormElement, navigation: Promise<void>): Promise<void>;
  /** Call it when the server has answered: the action accepted or refused the form. */
  onAnswer(isTaken: boolean): void;
  /** Call it when the page shows the answer. */
  onCommit(): void;
}

interface Post {
  readonly form: HTMLFormElement;
  /** The focused element when the form was sent. */
  readonly focused: Element | null;
  isTaken: boolean | undefined;
}

/** Follows the form that was posted last. A form that another post or navigation overtakes is left unchanged. */
export function createPostedForm(): PostedForm {
  let last: Post | undefined;
  return {
    async follow(form, navigation) {
      const post: Post = { form, focused: document.activeElement, isTaken: undefined };
      last = post;
      await navigation;
      if (post.isTaken) resetWhereAsked(form);
      else if (post.isTaken === undefined && last === post) last = undefined;
    },
    onAnswer(isTaken) {
      if (last) last.isTaken = isTaken;
    },
    onCommit() {
      if (last?.isTaken === undefined) return;
      if (!last.isTaken) focusRefused(last);
      last = undefined;
    },
  };
}

/** React resets the form after it has shown the answer, so the fields get the default values of the answer. */
function resetWhereAsked(form: HTMLFormElement): void {
  if (form.hasAttribute('data-reset') && form.isConnected) startTransition(() => requestFormReset(form));
}

/** Focuses the first field that was refused, unless the visitor has begun to type elsewhere. */
function focusRefused({ form, focused }: Post): void {
  const active = document.activeElement;
  if (active !== focused && isTextField(active)) return;
  form.querySelector<HTMLElement>('[aria-invalid]:not([aria-invalid="false"])')?.focus();
}
