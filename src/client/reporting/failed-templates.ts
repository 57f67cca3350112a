interface FailedTemplates {
  /**
   * Returns what the server said about a place that was removed from the page in this task: an address, or a word such
   * as `not-found`.
   */
  takeGone(): string | undefined;
}

/**
 * Watches the places that failed on the server while they streamed. React renders them again in the browser. If that
 * fails too, it only reports the browser's error, because the template with the server's address is gone by then. So
 * this has to begin before the page is hydrated.
 */
export function watchFailedTemplates(): FailedTemplates {
  const waiting = new Map<Element, string | undefined>();
  function collect(): void {
    for (const template of document.querySelectorAll<HTMLElement>('template[data-dgst]')) {
      waiting.set(template, template.dataset.dgst);
    }
  }
  function takeGone(): string | undefined {
    let gone: string | undefined;
    for (const [template, address] of waiting) {
      if (template.isConnected) continue;
      waiting.delete(template);
      gone ??= address;
    }
    return gone;
  }

  collect();
  if (waiting.size > 0 || document.readyState === 'loading') {
    // It runs after the task that changed the page. A place that React has not reported by then rendered without an
    // error.
    const observer = new MutationObserver(() => {
      takeGone();
      collect();
      if (waiting.size === 0 && document.readyState !== 'loading') observer.disconnect();
    });
    observer.observe(document, { childList: true, subtree: true, attributeFilter: ['data-dgst'] });
  }
  return { takeGone };
}
