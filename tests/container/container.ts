import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Image } from './lay-out.ts';
import type { MemoryLimit } from './memory-limit.ts';

const ENTER = fileURLToPath(new URL('./enter.sh', import.meta.url));
const NAMESPACES = ['--mount', '--pid', '--net', '--ipc', '--uts', '--cgroup'];

/** Why nothing can be run like a container here; undefined where it can. */
export function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'namespaces are Linux’s';
  if (process.getuid?.() !== 0) return 'making namespaces and another user needs root';
  for (const tool of ['unshare', 'nsenter', 'setpriv', 'mount', 'ip', 'ldd']) {
    if (spawnSync('which', [tool]).status !== 0) return `${tool} is not installed`;
  }
  const script = 'mount --make-rprivate / && mount -t proc proc /proc && ip link set lo up';
  const tried = spawnSync('unshare', [...NAMESPACES, '--fork', 'bash', '-c', script], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : `the kernel allows no namespaces (${tried.stderr.trim()})`;
}

export interface ContainerOptions {
  readonly image: Image;
  /** A folder that stands for the volume. */
  readonly data: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly memory?: MemoryLimit | undefined;
}

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process in namespaces of its own, on the image's root that it cannot write to. */
export interface Container {
  /** The first process, as this machine numbers it. */
  readonly pid: number;
  readonly log: () => string;
  /** Resolves when it listens. */
  readonly listens: Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Does nothing where it has ended. */
  kill(signal: NodeJS.Signals): void;
  /** As `docker exec` does. */
  exec(command: readonly string[], env?: Readonly<Record<string, string>>): Finished;
  /** Runs a script in the container, in the image's own Node; what it prints is JSON. */
  inside<T>(script: string): T;
  /** The same on this machine's Node, which the container's end leaves alone: of the container it has the network. */
  beside<T>(script: string): Promise<T>;
}

export function startContainer({ image, data, env = {}, memory }: ContainerOptions): Container {
  const { root, config } = image;
  const { uid, gid } = config.user;
  const all = { ...config.env, ...env };
  const variables = Object.entries(all).map(([name, value]) => `${name}=${value}`);
  const who = [config.workdir, String(uid), String(gid), String(memory?.version ?? 0)];
  const inside = ['bash', ENTER, root, data, ...who, String(variables.length), ...variables, ...config.command];
  // It joins the group first: a namespace of groups shows that of its maker as the topmost one.
  const join = memory ? `echo 0 >${memory.folder}/cgroup.procs && ` : '';
  const outer = spawn(
    'bash',
    ['-c', `${join}exec "$@"`, 'bash', 'unshare', ...NAMESPACES, '--fork', '--kill-child', ...inside],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  const read = (chunk: Buffer) => {
    output += chunk.toString();
  };
  outer.stdout.on('data', read);
  outer.stderr.on('data', read);
  const ended = once(outer, 'close').then(([code, signal]) => ({ code, signal }));
  const listens = waitFor(
    () => output.includes('Listening on '),
    outer,
    () => output,
  );
  const exec = (command: readonly string[], more: Readonly<Record<string, string>> = {}): Finished => {
    const spaces = ['--mount', '--pid', '--net', '--ipc', '--uts', '--root', '--wd'];
    const user = ['--setgid', String(gid), '--setuid', String(uid)];
    const [file = '', ...rest] = command;
    // As the image's PATH would find it.
    const found = [`${config.env.PATH}/${file}`, ...rest];
    return spawnSync(NSENTER, ['--target', String(requireFirst(outer)), ...spaces, ...user, ...found], {
      encoding: 'utf8',
      env: { ...all, ...more },
    });
  };
  return {
    get pid() {
      return requireFirst(outer);
    },
    log: () => output,
    listens,
    ended,
    kill(signal) {
      const pid = findFirst(outer);
      if (pid !== undefined) process.kill(pid, signal);
    },
    exec,
    inside<T>(script: string) {
      return toAnswer<T>(exec(['node', ...SCRIPT, script]));
    },
    async beside<T>(script: string) {
      const child = spawn(NSENTER, [
        '--target',
        String(requireFirst(outer)),
        '--net',
        process.execPath,
        ...SCRIPT,
        script,
      ]);
      const said = { stdout: '', stderr: '' };
      child.stdout.on('data', (chunk) => {
        said.stdout += chunk;
      });
      child.stderr.on('data', (chunk) => {
        said.stderr += chunk;
      });
      const [status] = await once(child, 'close');
      return toAnswer<T>({ status, ...said });
    },
  };
}

const SCRIPT = ['--input-type=module', '-e'];
const NSENTER = whyNot() === undefined ? execFileSync('which', ['nsenter'], { encoding: 'utf8' }).trim() : '';

function toAnswer<T>({ status, stdout, stderr }: Finished): T {
  if (status !== 0) throw new Error(`The script ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as T; // the scripts are the tests' own
}

/** The child of `unshare`, which became the server; undefined where it has ended. The number 0 would stand for every process of the tests. */
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

async function waitFor(isThere: () => boolean, child: ChildProcess, output: () => string): Promise<void> {
  const end = performance.now() + 20_000;
  while (!isThere()) {
    if (child.exitCode !== null) throw new Error(`The container ended with ${child.exitCode}:\n${output()}`);
    if (performance.now() > end) throw new Error(`The container does not listen:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The system's killer of processes takes this one before any other of its group. */
export function offerToKiller({ pid }: Container): void {
  writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
}
