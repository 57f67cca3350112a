import './required-node.mjs';
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Runs a command while every core is kept busy by a process, as on a shared machine: `node bench/busy.mjs npm test`. Exits
 * with the exit code of the command. Without a command, it runs until you stop it.
 */
/** Pauses regularly, to notice when its parent exits. */
const busyLoop = `process.stdin.once('end', () => process.exit()).resume();
  (function work() { const end = Date.now() + 200; while (Date.now() < end); setImmediate(work); })();`;
const [command, ...args] = process.argv.slice(2);
const loops = Array.from({ length: availableParallelism() }, () =>
  // When the parent exits, the pipe closes, so that no loop outlives it.
  spawn(process.execPath, ['-e', busyLoop], { stdio: ['pipe', 'ignore', 'inherit'] }),
);
process.on('exit', () => {
  for (const loop of loops) loop.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
console.error(`Started ${loops.length} busy processes.`);
if (command !== undefined) {
  spawn(command, args, { stdio: 'inherit' }).once('exit', (code) => process.exit(code ?? 1));
}
