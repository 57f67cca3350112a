// Node 14 must be able to parse and run this file. Otherwise it would fail with a syntax error instead of a message.
import { spawn } from 'child_process';
import { existsSync } from 'fs';
import { dirname, join } from 'path';
import { fileURLToPath } from 'url';

const REQUIRED_MAJOR = 24;
const TRIED = 'SPILLWAY_PINNED_NODE';

/** Returns the Node that `npm ci` installed as an optional dependency, or '' if there is none. */
function findPinnedNode() {
  const modules = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules');
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const file = process.platform === 'win32' ? 'node.exe' : 'node';
  const names = ['node-' + platform + '-' + process.arch, 'node-bin-' + platform + '-' + process.arch];
  const found = names.map((name) => join(modules, name, 'bin', file)).filter((path) => existsSync(path));
  return found.length > 0 ? found[0] : '';
}

/** Runs the same command with `node`, and exits as it does. Forwards signals. */
function continueOn(node) {
  const env = Object.assign({}, process.env);
  env[TRIED] = '1';
  const child = spawn(node, process.execArgv.concat(process.argv.slice(1)), { stdio: 'inherit', env: env });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  // In a terminal, Ctrl+C also reaches the child directly. A second SIGINT would cut its drain short.
  signals.forEach((signal) => {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  });
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exit(code === null ? 1 : code);
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
// Processes that this one starts can run in the older Node again.
if (enough) delete process.env[TRIED];

// Runs on import, so that an older Node evaluates nothing after it that it cannot parse.
if (!enough) {
  const pinned = process.env[TRIED] ? '' : findPinnedNode();
  if (!pinned) {
    process.stderr.write(
      'Spillway needs Node ' +
        REQUIRED_MAJOR +
        ' or newer, and this is Node ' +
        process.versions.node +
        '. Run `npm ci` and then `npm start`, which uses the Node that is pinned in package.json.\n',
    );
    process.exit(1);
  }
  continueOn(pinned);
}
