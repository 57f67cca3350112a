import { read } from './thrown.ts';

/** Maximum length of a chain of causes, which can be endless (count). */
const MAX_CAUSES = 10;

/** Returns a thrown value and its causes, outermost first. Never throws. */
export function causesOf(thrown: unknown): unknown[] {
  const chain = [thrown];
  for (let link = thrown; chain.length < MAX_CAUSES; chain.push(link)) {
    link = read(link, 'cause');
    if (link === undefined || link === null || chain.includes(link)) break;
  }
  return chain;
}
