import { MAX_REPORTED_ERRORS } from '../shared-limits.ts';
import { readProperty } from './read-property.ts';

/**
 * Lists a thrown value and its causes, outermost first. Any value can be thrown, also `undefined`. Stops at a cycle, and
 * never throws.
 *
 * @param canHaveCause which values are asked for their cause. Everything by default
 */
export function causesOf(thrown: unknown, canHaveCause: (value: unknown) => boolean = () => true): unknown[] {
  const chain = [thrown];
  for (let link = thrown; chain.length < MAX_REPORTED_ERRORS; chain.push(link)) {
    link = canHaveCause(link) ? readProperty(link, 'cause') : undefined;
    if (link === undefined || link === null || chain.includes(link)) break;
  }
  return chain;
}
