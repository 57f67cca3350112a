import { read } from './thrown.ts';

/** Levels of `cause` that are looked at (a count): a chain can be endless. */
const MAX_CAUSES = 10;

/** Something thrown and its causes, outermost first. Never throws, whatever was. */
export function causesOf(thrown: unknown): unknown[] {
  const chain = [thrown];
  for (let link = thrown; chain.length < MAX_CAUSES; chain.push(link)) {
    link = read(link, 'cause');
    if (link === undefined || link === null || chain.includes(link)) break;
  }
  return chain;
}

/** What browsers say of a module that did not come. */
export function isLoadFailure(thrown: unknown): boolean {
  return /dynamically imported module|^Importing a module/.test(String(read(thrown, 'message')));
}
