import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { useEnvFile } from './env-file.mjs';

const root = join(import.meta.dirname, '..');

/** Builds if something changed, then runs the server in this process, which keeps its id and its signals. */
export async function serve() {
  watchNpm();
  useEnvFile();
  enableCompileCache(`${root}/node_modules/.cache/spillway/compiled`);
  // A check is about what is built, perhaps of a running server, whose files a build would replace.
  const isCheck = process.argv.includes('--check') && existsSync(join(root, 'dist/manifest.json'));
  // An image contains `dist` but no sources, so there is nothing to build or compare.
  const isOld = existsSync(`${root}/src`) && !(await hasCurrentBuild());
  if (isCheck && isOld) console.log('warning: The build is not of these sources. `npm start` builds them.');
  if (!isCheck && isOld) {
    console.error('Building. The first time takes longest.');
    // A separate process, because a build would leave the server with three times the memory. It logs to standard error:
    // the first line of standard output must say that the server listens. The server starts as soon as it can, and the
    // build writes the other files meanwhile.
    const build = spawn(process.execPath, [`${root}/build.mjs`], { stdio: ['ignore', 2, 2, 'ipc'] });
    const ended = once(build, 'exit').then(([code, signal]) => {
      if (signal) console.error(`The build was ended by ${signal}. It may need more memory than this machine has.`);
      return code === 0;
    });
    const isRunnable = await Promise.race([once(build, 'message').then(() => true), ended]);
    if (!isRunnable) process.exit(1);
    if (build.connected) build.disconnect();
    build.unref();
  }
  // As a URL, which the compiler does not follow: it would check the whole bundle.
  await import(new URL('../dist/server/main.js', import.meta.url).href);
}

async function hasCurrentBuild() {
  const file = new URL('../dist/server/stamp.js', import.meta.url);
  return existsSync(file) && (await import(file.href)).hasCurrentBuild(root);
}

/**
 * npm starts this process in a shell, and a signal can end both without reaching it. The server looks for that once it
 * listens to signals. Until then, this does, and the builder ends with this process.
 */
function watchNpm() {
  const parent = process.ppid;
  const look = () => {
    // The first listener is that of `dist/server/main.js`.
    if (process.listenerCount('SIGTERM') > 1) clearInterval(timer);
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  };
  const timer = process.env.npm_lifecycle_event ? setInterval(look, 500).unref() : undefined;
}
