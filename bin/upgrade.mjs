import { hasRequiredNode } from './require-node.mjs';

if (hasRequiredNode()) {
  // Killed while git writes files, an upgrade can leave only some files of this command.
  const command = await import('./upgrade/upgrade.mjs').catch((error) => error);
  if (command instanceof Error) {
    console.error(`${command.message}

If an upgrade was interrupted, restore this command, and then the rest:

  rm -f .git/index.lock && git reset --hard
  npm run upgrade -- --abort`);
    process.exitCode = 1;
  } else process.exitCode = command.upgrade(process.argv.slice(2), process.cwd());
}
