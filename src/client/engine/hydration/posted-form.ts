import { startTransition } from 'react';
import { requestFormReset } from 'react-dom';
import { isTextField } from '../navigation/is-text-field.ts';

/** What a form does once its post in the background is answered. */
export interface PostedForm {
  /** The form was sent; `navigation` settles when the router is done with it, or has given it up for another. */
  follow(form: HTMLFormElement, navigation: Promise<void>): Promise<void>;
  /** The server answered: the action took what was sent, or refused it. */
  onAnswer(isTaken: boolean): void;
  /** The answer stands in the page. */
  onCommit(): void;
}

interface Post {
  readonly form: HTMLFormElement;
  /** Where the focus was as it was sent. */
  readonly focused: Element | null;
  isTaken: boolean | undefined;
}

/** Follows the form that was posted last. One that another post or navigation overtakes is left as it is. */
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

/** By React, after it has shown the answer: the fields then have the default values that came with it. */
function resetWhereAsked(form: HTMLFormElement): void {
  if (form.hasAttribute('data-reset') && form.isConnected) startTransition(() => requestFormReset(form));
}

/** On to the first field that was refused, unless the visitor has begun to type elsewhere since. */
function focusRefused({ form, focused }: Post): void {
  const active = document.activeElement;
  if (active !== focused && isTextField(active)) return;
  form.querySelector<HTMLElement>('[aria-invalid]:not([aria-invalid="false"])')?.focus();
}
