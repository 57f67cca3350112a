/** The script of `/api/docs`: sends the request that a form describes, and shows the response. */

/** More is not shown (characters). */
const MAX_SHOWN = 100_000;

addEventListener('submit', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement)) return;
  event.preventDefault();
  const output = form.querySelector('output');
  if (!output) return;
  output.textContent = 'Sending …';
  send(form).then(
    (text) => {
      output.textContent = text;
    },
    (error: unknown) => {
      output.textContent = `There was no response. ${error}`;
    },
  );
});

async function send({ dataset: { method = '', path = '' }, elements }: HTMLFormElement): Promise<string> {
  let target = path;
  const search = new URLSearchParams();
  const headers = new Headers();
  let body: string | undefined;
  for (const { name, value, tagName } of elements as Iterable<HTMLInputElement>) {
    const [place, key = ''] = name.split(' ');
    if (place === 'path') target = target.replace(`{${key}}`, encodeURIComponent(value));
    if (place === 'body') {
      body = value;
      headers.set('Content-Type', 'application/json');
    }
    if (value === '') continue;
    if (place === 'header') headers.set(key, value);
    if (place === 'query')
      for (const one of tagName === 'TEXTAREA' ? value.split('\n') : [value]) search.append(key, one);
  }
  const token = document.querySelector<HTMLInputElement>('#token')?.value;
  if (token) headers.set('Authorization', `Bearer ${token}`);
  const startedAt = performance.now();
  const url = target + (search.size > 0 ? `?${search}` : '');
  const response = await fetch(url, { method, headers, body });
  const text = await response.text();
  const ms = Math.round(performance.now() - startedAt);
  return [
    `${method} ${url}`,
    `${response.status} ${response.statusText}, ${ms} ms`,
    '',
    indent(text).slice(0, MAX_SHOWN),
    '',
    ...[...response.headers].map(([name, value]) => `${name}: ${value}`),
  ].join('\n');
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text; // empty, or lines
  }
}
