import { useEffect, useState } from 'react';
import { Second } from '../../../shared/units.ts';

/** Copies a text. Needs scripts; without them, users can select the text on the page. */
export function CopyButton({ text, children }: { readonly text: string; readonly children: string }) {
  const [state, setState] = useState<'waiting' | 'ready' | 'copied' | 'failed'>('waiting');
  // Browsers have a clipboard only on HTTPS and localhost.
  useEffect(() => setState(navigator.clipboard ? 'ready' : 'waiting'), []);

  async function copy() {
    await navigator.clipboard.writeText(text);
    setState('copied');
    setTimeout(setState, 2 * Second, 'ready');
  }

  return (
    <button
      type="button"
      aria-live="polite"
      disabled={state === 'waiting'}
      onClick={() => copy().catch(() => setState('failed'))}
    >
      {state === 'copied' ? 'Copied' : state === 'failed' ? 'Not copied' : children}
    </button>
  );
}
