import './required-node.mjs';
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Keeps every core busy with a process of its own, as a shared machine does, and runs a command beside
 * them: `node bench/busy.mjs npm test`. Ends with the exit code of the command. Without a command it goes
 * on until it is stopped.
 */
/** It looks up now and then, to notice the end of its parent. */
const busyLoop = `process.stdin.once('end', () => process.exit()).resume();
  (function work() { const end = Date.now() + 200; while (Date.now() < end); setImmediate(work); })();`;
const [command, ...args] = process.argv.slice(2);
const loops = Array.from({ length: availableParallelism() }, () =>
  // The parent's end closes the pipe, so that no loop outlives it.
  spawn(process.execPath, ['-e', busyLoop], { stdio: ['pipe', 'ignore', 'inherit'] }),
);
process.on('exit', () => {
  for (const loop of loops) loop.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
console.error(`${loops.length} busy processes run.`);
if (command !== undefined) {
  spawn(command, args, { stdio: 'inherit' }).once('exit', (code) => process.exit(code ?? 1));
}
