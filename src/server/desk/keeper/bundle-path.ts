import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The path of a script as the record of a failure has it: within `dist`, within the project, or a
 * module of Node; empty for anything else, so that no path of this machine gets out.
 *
 * @param url what the engine calls the script: `file:///srv/app/dist/server/main.js`
 */
export function toBundlePath(url: string, dist: string): string {
  if (url.startsWith('node:')) return url;
  const plain = url.replace(/[?#].*$/, '');
  for (const folder of [dist, dirname(dist)]) {
    const home = `${pathToFileURL(folder).href.replace(/\/$/, '')}/`;
    if (plain.startsWith(home)) return decodeURI(plain.slice(home.length));
  }
  const dependency = plain.lastIndexOf('/node_modules/');
  return dependency < 0 ? '' : plain.slice(dependency + 1);
}
