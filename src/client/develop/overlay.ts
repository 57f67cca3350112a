import type { DevError, DevProblem } from '../../shared/develop-protocol.ts';

/** In a shadow root with a constructed style sheet, so that neither the page's styles nor its policy affect it. */
const STYLES = `
:host { position: fixed; inset: 0; z-index: 2147483647; overflow: auto; background: #080c10; color: #e8eef2; font: 15px/1.5 system-ui, sans-serif; }
div { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { margin: 0 0 1rem; font-size: 1.25rem; color: #ff8f7d; }
section { margin: 0 0 1.5rem; padding: 1rem 1.25rem; border: 1px solid #33414d; border-radius: 0.5rem; background: #10171c; }
p { margin: 0 0 0.5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
a { color: #7cc7ff; }
pre { margin: 0.5rem 0 0; overflow: auto; font: 13px/1.6 ui-monospace, monospace; }
pre b { display: block; font-weight: 400; background: #3a1f1f; }
button { float: right; font: inherit; color: inherit; background: none; border: 1px solid #55636f; border-radius: 0.35rem; padding: 0.1rem 0.6rem; cursor: pointer; }
small { color: #93a4b1; }
`;

let host: HTMLElement | undefined;

/** React removes what it did not render when it renders the whole document again. */
const keeper = new MutationObserver(() => {
  if (host?.isConnected === false) document.documentElement.append(host);
});

export function showProblems({ title, problems }: DevError): void {
  hideOverlay();
  host = document.createElement('spillway-problem');
  const root = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLES);
  root.adoptedStyleSheets = [sheet];
  const dialog = element('div', { role: 'alertdialog', 'aria-label': title });
  const close = element('button', { type: 'button' }, 'Close');
  close.addEventListener('click', hideOverlay);
  dialog.append(close, element('h1', {}, title), ...problems.map(toSection));
  dialog.append(element('small', {}, 'This message disappears when the problem is fixed.'));
  root.append(dialog);
  document.documentElement.append(host);
  keeper.observe(document.documentElement, { childList: true });
}

export function hideOverlay(): void {
  host?.remove();
  host = undefined;
}

function toSection({ text, file, line, column, open, lines = [], trail = [] }: DevProblem): HTMLElement {
  const section = element('section');
  section.append(element('p', {}, text));
  if (file) {
    const place = `${file}${line ? `:${line}${column ? `:${column}` : ''}` : ''}`;
    const where = element('p');
    where.append(open ? element('a', { href: open }, `${place} (open in editor)`) : place);
    section.append(where);
  }
  if (lines.length > 0) {
    const code = element('pre');
    for (const [number, source] of lines) {
      const row = `${String(number).padStart(5)}  ${source}\n`;
      code.append(number === line ? element('b', {}, row) : row);
    }
    section.append(code);
  }
  if (trail.length > 0) section.append(element('pre', {}, trail.join('\n')));
  return section;
}

function element(name: string, attributes: Record<string, string> = {}, text = ''): HTMLElement {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}
