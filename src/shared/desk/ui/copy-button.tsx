import { useEffect, useState } from 'react';

/** Copies a text, once scripts run; the text itself stands on the page for all others. */
export function CopyButton({ text, children = 'Copy' }: { readonly text: string; readonly children?: string }) {
  const [state, setState] = useState<'waiting' | 'ready' | 'copied'>('waiting');
  // Browsers have a clipboard where the page came by HTTPS, or from this machine.
  useEffect(() => setState(navigator.clipboard ? 'ready' : 'waiting'), []);

  async function copy() {
    await navigator.clipboard.writeText(text);
    setState('copied');
  }

  return (
    <button type="button" disabled={state === 'waiting'} onClick={() => copy().catch(() => setState('waiting'))}>
      {state === 'copied' ? 'Copied' : children}
    </button>
  );
}
