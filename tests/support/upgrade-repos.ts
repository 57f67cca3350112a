import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('../..', import.meta.url));

export interface Said {
  /** The exit code; null if it was killed. */
  readonly code: number | null;
  readonly out: string;
  /** The commands that wrote something. */
  readonly steps: readonly string[];
}

/** Where a command is killed: before or after its nth step, or while git writes the fifth file in it. */
export interface Kill {
  readonly when: 'before' | 'during' | 'after';
  readonly step: number;
}

/** Repositories in a temporary folder, with their own git settings and a stand-in for npm. */
export interface Workshop {
  readonly folder: string;
  /** Runs git in a folder, and returns its output. */
  git(folder: string, ...args: readonly string[]): string;
  /** Writes files, and commits everything. Undefined removes a file. */
  commit(folder: string, message: string, files: Readonly<Record<string, string | undefined>>): void;
  /** Makes an SSH key, and returns the path of its private half. */
  createKey(name: string): string;
  /** Returns a line of `allowed-signers` for a key. */
  toSigner(key: string): string;
  /** Runs a Node script, with a stand-in for npm. */
  run(folder: string, args: readonly string[], options?: RunOptions): Promise<Said>;
  remove(): void;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly kill?: Kill;
}

/** The files of a release that an upgrade needs to run. */
const COMMANDS = [
  'bin/upgrade.mjs',
  'bin/release.mjs',
  'bin/upgrade',
  'bin/require-node.mjs',
  'bin/own/tour.mjs',
  'bin/own/without.mjs',
  'build/files.mjs',
];

/** Commands that write more than objects that nothing refers to. Others cannot leave anything half done. */
const STEPS = 'fetch|switch|cherry-pick|add|commit|reset|branch';

/** `npm ci` leaves a trace, and everything succeeds unless a test says otherwise. */
const NO_NPM = `echo "npm $*" >> "$NPM_CALLS"
case "$1" in ci) mkdir -p node_modules; date > node_modules/installed;; esac
for word in $NPM_FAILS; do case " $* " in *" $word "*) exit 1;; esac; done`;

/** @param npm a shell script that stands in for npm */
export function createWorkshop({ npm = NO_NPM } = {}): Workshop {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-upgrades-')));
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:GIT_|npm_|VITEST|NODE_ENV)/.test(name))),
    GIT_CONFIG_GLOBAL: join(folder, 'gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_EDITOR: 'false',
    // A process that is killed leaves its temporary files.
    TMPDIR: folder,
  };
  writeFileSync(
    env.GIT_CONFIG_GLOBAL,
    '[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[gpg]\n\tformat = ssh\n',
  );
  const realGit = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  writeTool('git', toTool(realGit, STEPS));
  writeTool('npm', toTool(join(tools, 'npm-itself'), '.*'));
  writeTool('npm-itself', npm);

  function writeTool(name: string, text: string): void {
    writeFileSync(join(tools, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }

  function git(at: string, ...args: readonly string[]): string {
    return execFileSync(realGit, args, { cwd: at, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  return {
    folder,
    git,
    commit(at, message, files) {
      writeFiles(at, files);
      git(at, 'add', '--all');
      git(at, 'commit', '--quiet', '-m', message);
    },
    createKey(name) {
      const key = join(folder, name);
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', key]);
      return key;
    },
    toSigner: (key) => `releases@example.com namespaces="git" ${readFileSync(`${key}.pub`, 'utf8')}`,
    run(at, args, { env: extra = {}, kill } = {}) {
      const count = mkdtempSync(join(folder, 'run-'));
      const child = spawn(process.execPath, args, {
        cwd: at,
        env: {
          ...env,
          PATH: [tools, dirname(process.execPath), process.env.PATH].join(':'),
          STEP_COUNT: join(count, 'steps'),
          KILL: kill ? `${kill.when} ${kill.step}` : '',
          NPM_CALLS: join(count, 'npm'),
          NPM_FAILS: '',
          ...extra,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let out = '';
      child.stdout.on('data', (chunk) => {
        out += chunk;
      });
      child.stderr.on('data', (chunk) => {
        out += chunk;
      });
      // A tool can still write after it killed its parent, and holds the pipes until then.
      return new Promise((resolve) =>
        child.once('close', (code) =>
          resolve({ code, out, steps: (readIfThere(count, 'steps.list') ?? '').split('\n').slice(0, -1) }),
        ),
      );
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A tool that counts its steps, and kills the command that called it at one of them. */
function toTool(command: string, steps: string): string {
  return `step=none
for word in "$@"; do
  case "$word" in -c|*=*|-*) ;; *) if echo "$word" | grep -Eqx '${steps}'; then step=some; fi; break;; esac
done
if [ $step = none ]; then exec '${command}' "$@"; fi
count=$(( $(cat "$STEP_COUNT" 2>/dev/null || echo 0) + 1 ))
echo $count > "$STEP_COUNT"
echo "$*" >> "$STEP_COUNT.list"
if [ "$KILL" = "before $count" ]; then kill -9 $PPID; exit 1; fi
if [ "$KILL" = "during $count" ]; then
  echo '* filter=fatal' > "$STEP_COUNT.attributes"
  GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.attributesFile GIT_CONFIG_VALUE_0="$STEP_COUNT.attributes" \\
    GIT_CONFIG_KEY_1=filter.fatal.smudge GIT_CONFIG_VALUE_1='echo >> "$STEP_COUNT.files"; if [ $(wc -l < "$STEP_COUNT.files") -gt 4 ]; then kill -9 $PPID; fi; cat' '${command}' "$@"
  kill -9 $PPID
  exit 1
fi
'${command}' "$@"
status=$?
if [ "$KILL" = "after $count" ]; then kill -9 $PPID; fi
exit $status`;
}

export function writeFiles(folder: string, files: Readonly<Record<string, string | undefined>>): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
  }
}

export function copyCommands(folder: string): void {
  for (const path of COMMANDS) cpSync(join(project, path), join(folder, path), { recursive: true });
}

export function readIfThere(folder: string, path: string): string | undefined {
  return existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined;
}
