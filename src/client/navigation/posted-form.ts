import { isTextField } from './is-text-field.ts';
import { readForm, type Submission } from './link-events.ts';

/** Handles a form after its background post is answered. */
interface PostedForm {
  /** Call it when the form is sent. `navigation` settles when the router has finished or abandoned it. */
  follow(submission: Submission, navigation: Promise<void>): Promise<void>;
  /** Call it when the server has answered: the action accepted or refused the form. */
  onAnswer(isTaken: boolean): void;
  /** Call it when the page shows the answer. */
  onCommit(): void;
}

interface Post extends Submission {
  /** The focused element when the form was sent. */
  readonly focused: Element | null;
  isTaken: boolean | undefined;
}

/** Follows the form that was posted last. A form that another post or navigation overtakes is left unchanged. */
export function createPostedForm(): PostedForm {
  let last: Post | undefined;
  return {
    async follow(submission, navigation) {
      const post: Post = { ...submission, focused: document.activeElement, isTaken: undefined };
      last = post;
      await navigation;
      if (post.isTaken === undefined && last === post) last = undefined;
    },
    onAnswer(isTaken) {
      if (last) last.isTaken = isTaken;
    },
    onCommit() {
      if (last?.isTaken === undefined) return;
      if (!last.isTaken) focusRefused(last);
      else if (readForm(last, 'data-reset') !== null) HTMLFormElement.prototype.reset.call(last.form);
      last = undefined;
    },
  };
}

/** Focuses the first field that was refused, unless the visitor has begun to type elsewhere. */
function focusRefused({ form, focused }: Post): void {
  const active = document.activeElement;
  if (active !== focused && isTextField(active)) return;
  const refused = Element.prototype.querySelector.call(form, '[aria-invalid]:not([aria-invalid="false"])');
  if (refused instanceof HTMLElement) refused.focus();
}
