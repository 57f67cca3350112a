/**
 * The works that are measured under load. Each work has a second page or request of another shape, so that nothing is tuned to the
 * first. `{n}` is another number in each request. `goal` is for the first only, as a share of bare Node.
 */
export const LOADS = [
  {
    name: 'cards',
    goal: 1.3,
    tailGoal: 2,
    shapes: [
      { title: 'card page', path: '/cards?q={n}' },
      { title: '  other: table, form, nested layout', path: '/orders?q={n}' },
    ],
  },
  {
    name: 'large',
    goal: 1.5,
    shapes: [
      { title: 'large plain page', path: '/large' },
      { title: '  other: nested components', path: '/tree' },
    ],
  },
  {
    name: 'deferred',
    cpuGoal: 0.9,
    firstByteGoal: 1.4, // 0.8 ms where bare Node needs 0.56
    shapes: [
      { title: 'deferred data', path: '/product?q={n}' },
      { title: '  other: four lists', path: '/feed?q={n}' },
    ],
  },
  {
    name: 'api',
    goal: 0.5,
    nextGoal: 0.7,
    shapes: [
      { title: 'API answer', path: '/api/stations/{n}' },
      { title: '  other: POST', path: '/api/readings', method: 'POST', status: 201, body: toReadings() },
    ],
  },
  {
    name: 'static',
    goal: 0.6,
    nextGoal: 0.8,
    shapes: [
      { title: 'static page, 6 kB', path: '/about' },
      { title: '  other: 43 kB', path: '/terms' },
    ],
  },
];

function toReadings() {
  const readings = Array.from({ length: 16 }, (_, index) => ({
    at: new Date(Date.UTC(2026, 0, 1, index)).toISOString(),
    value: 200 + index / 10,
    note: index % 3 ? '' : 'Hochwasser ★',
  }));
  return JSON.stringify({ station: 'Köln', readings });
}

/** @throws Error if a side does not answer, or answers something else than bare Node */
export async function checkAnswers(servers, { path, method = 'GET', body, status = 200 }) {
  const read = async ({ port }) => {
    const headers = body ? { 'content-type': 'application/json' } : undefined;
    const url = `http://127.0.0.1:${port}${path.replace('{n}', '7')}`;
    let answer = await fetch(url, { method, body, headers });
    // For a second after a load that was too much, Spillway still refuses pages.
    for (let tries = 0; answer.status === 503 && tries < 10; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      answer = await fetch(url, { method, body, headers });
    }
    const text = await answer.text();
    if (answer.status !== status) throw new Error(`${method} ${path} was answered with ${answer.status}.`);
    return text.startsWith('{') ? JSON.stringify(JSON.parse(text)) : toContent(text);
  };
  const expected = await read(servers.bare);
  for (const [side, server] of Object.entries(servers)) {
    if ((await read(server)) !== expected)
      throw new Error(`${side} answers ${method} ${path} differently from bare Node.`);
  }
}

/** The words and tags of a page in alphabetical order, because deferred values arrive in any order. */
function toContent(html) {
  const hidden = [
    /<script\b[\s\S]*?<\/script>/g,
    /<template\b[\s\S]*?<\/template>/g,
    /<!--[\s\S]*?-->/g,
    /<div hidden id="S:[^"]*">/g,
    /<p(?: role="status")?>Loading [\s\S]*?<\/p>/g, // left out if the value is ready at once
  ];
  const body = hidden.reduce((text, part) => text.replace(part, ''), html.slice(html.indexOf('<body')));
  return body
    .replace(/<\/\w+>/g, ' ')
    .replace(/<(\w+)[^>]*>/g, ' <$1> ')
    .split(/\s+/)
    .sort()
    .join(' ');
}
