// Node 14 must be able to parse and run this file. Otherwise it would fail with a syntax error instead of a message.
import { spawn } from 'child_process';
import { existsSync } from 'fs';
import { createRequire } from 'module';
import { join } from 'path';

const REQUIRED_MAJOR = 24;

/** Returns the Node that `npm ci` installed as an optional dependency, if there is one. */
function findPinnedNode() {
  const isWindows = process.platform === 'win32';
  const system = `${isWindows ? 'win' : process.platform}-${process.arch}`;
  const { paths } = createRequire(import.meta.url).resolve;
  return [`node-${system}`, `node-bin-${system}`]
    .flatMap((name) => paths(name).map((folder) => join(folder, name, 'bin', isWindows ? 'node.exe' : 'node')))
    .find((path) => existsSync(path));
}

/** Runs the same command with `node`, and exits as it does. Forwards signals. */
function continueOn(node) {
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  // In a terminal, Ctrl+C also reaches the child directly. A second SIGINT would cut its drain short.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exit(code ?? 1);
  });
}

/**
 * Returns true if this Node is new enough. Otherwise the command already runs in the pinned Node, and the caller must do
 * nothing. Without a pinned Node, the process has exited with a message.
 */
export function hasRequiredNode() {
  return enough;
}

const enough = Number(process.versions.node.split('.')[0]) >= REQUIRED_MAJOR;

// Runs on import, so that an older Node evaluates nothing after it that it cannot parse.
if (!enough) {
  const pinned = findPinnedNode();
  if (!pinned) {
    process.stderr.write(
      `Spillway needs Node ${REQUIRED_MAJOR} or newer, and this is Node ${process.versions.node}. Run \`npm ci\` and then \`npm start\`, which uses the Node that is pinned in package.json.\n`,
    );
    process.exit(1);
  }
  continueOn(pinned);
}
