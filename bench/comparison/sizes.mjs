import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { bySide, SIDES, startAll, stopAll } from './measure.mjs';

/** The headers of an API answer, and the scripts that a browser loads before it can hydrate the page of cards. */
export async function measureSizes({ sides, plainScript }) {
  const servers = await startAll(sides);
  const headers = bySide(() => 0);
  for (const side of SIDES) headers[side] = await countHeaders(servers[side].port);
  const scripts = await collectScripts(`http://127.0.0.1:${servers.spillway.port}/cards?q=1`);
  await stopAll(servers);
  const spillway = scripts.reduce((sum, script) => sum + gzipSync(script).length, 0) / 1000;
  const express = gzipSync(plainScript).length / 1000;
  return {
    rows: [
      {
        title: 'headers of an API answer',
        unit: 'bytes',
        values: headers,
        goal: { atMost: 450, of: 'value' },
      },
      {
        title: 'first-load JavaScript, gzip',
        unit: 'kB',
        values: { express, spillway },
        goal: { atMost: 80, of: 'value' },
      },
    ],
  };
}

function countHeaders(port) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1');
    socket.on('connect', () => socket.write(`GET /api/stations/7 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`));
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      text += chunk;
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.destroy();
      resolve(end + 4);
    });
  });
}

/** Returns the module scripts of a page, the preloaded ones and all that these import statically. */
async function collectScripts(url) {
  const html = await (await fetch(url)).text();
  const tags = html.matchAll(/<script\b[^>]*\bsrc="([^"]+)"|<link\b[^>]*\brel="modulepreload"[^>]*\bhref="([^"]+)"/g);
  const scripts = new Map();
  async function collect(address) {
    if (scripts.has(address)) return;
    scripts.set(address, '');
    const text = await (await fetch(address)).text();
    scripts.set(address, text);
    const imports = text.matchAll(/\b(?:from|import)\s*["'](\.{0,2}\/[^"']+)["']/g);
    await Promise.all([...imports].map(([, path]) => collect(new URL(path, address).href)));
  }
  await Promise.all([...tags].map(([, script, preload]) => collect(new URL(script ?? preload, url).href)));
  return [...scripts.values()];
}
