import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Image } from './lay-out.ts';

const ENTER = fileURLToPath(new URL('./enter.sh', import.meta.url));
const NAMESPACES = ['--mount', '--pid', '--net', '--ipc', '--uts', '--cgroup'];

/** The reason why containers cannot be simulated here; undefined if they can. */
export function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'namespaces need Linux';
  if (process.getuid?.() !== 0) return 'making namespaces and another user needs root';
  for (const tool of ['unshare', 'nsenter', 'setpriv', 'mount', 'ip', 'ldd']) {
    if (spawnSync('which', [tool]).status !== 0) return `${tool} is not installed`;
  }
  const script = 'mount --make-rprivate / && mount -t proc proc /proc && ip link set lo up';
  const tried = spawnSync('unshare', [...NAMESPACES, '--fork', 'bash', '-c', script], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : `the kernel does not allow namespaces (${tried.stderr.trim()})`;
}

export interface ContainerOptions {
  readonly image: Image;
  /** The folder used as the volume. */
  readonly data: string;
  readonly env?: Readonly<Record<string, string>>;
}

export type Container = ReturnType<typeof startContainer>;

/** Starts a process in separate namespaces, with the image as its read-only root. */
export function startContainer({ image, data, env = {} }: ContainerOptions) {
  const { root, config } = image;
  const { uid, gid } = config.user;
  const all = { ...config.env, ...env };
  const variables = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  const who = [config.workdir, String(uid), String(gid)];
  const inside = ['bash', ENTER, root, data, ...who, String(variables.length), ...variables, ...config.command];
  const outer = spawn('unshare', [...NAMESPACES, '--fork', '--kill-child', ...inside], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const read = (chunk: Buffer) => {
    output += chunk.toString();
  };
  outer.stdout.on('data', read);
  outer.stderr.on('data', read);
  const ended = once(outer, 'close').then(([code, signal]) => ({ code, signal }));
  const exec = (command: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const spaces = ['--mount', '--pid', '--net', '--ipc', '--uts', '--root', '--wd'];
    const user = ['--setgid', String(gid), '--setuid', String(uid)];
    const [file = '', ...rest] = command;
    // Resolved like with the image's PATH.
    const found = [`${config.env.PATH}/${file}`, ...rest];
    return spawnSync(NSENTER, ['--target', String(requireFirst(outer)), ...spaces, ...user, ...found], {
      encoding: 'utf8',
      env: { ...all, ...more },
    });
  };
  return {
    /** The first process's id, as seen from outside the container. */
    get pid() {
      return requireFirst(outer);
    },
    log: () => output,
    ended,
    /** Does nothing if the process has exited. */
    kill(signal: NodeJS.Signals) {
      const pid = findFirst(outer);
      if (pid !== undefined) process.kill(pid, signal);
    },
    /** Runs a command like `docker exec`. */
    exec,
    /** Runs a script with this machine's Node in the container's network. It survives the container. */
    async beside<T>(script: string) {
      const target = ['--target', String(requireFirst(outer)), '--net'];
      const child = spawn(NSENTER, [...target, process.execPath, '--input-type=module', '--eval', script]);
      const [stdout, stderr, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      if (status !== 0) throw new Error(`The script ended with ${status}: ${stderr}`);
      return JSON.parse(stdout) as T; // scripts of tests print it
    },
  };
}

const NSENTER = whyNot() === undefined ? execFileSync('which', ['nsenter'], { encoding: 'utf8' }).trim() : '';

/** The child of `unshare`, which is now the server; undefined after its exit. Never 0, which would mean all tests. */
function findFirst({ pid }: ChildProcess): number | undefined {
  const file = `/proc/${pid}/task/${pid}/children`;
  const [child = ''] = existsSync(file) ? readFileSync(file, 'utf8').split(' ') : [];
  return Number.parseInt(child, 10) || undefined;
}

function requireFirst(outer: ChildProcess): number {
  const pid = findFirst(outer);
  if (pid === undefined) throw new Error('The container has ended.');
  return pid;
}
