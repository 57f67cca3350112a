import type { Breadcrumb } from '../../../server/request/request-info.ts';
import type { BreadcrumbShape } from '../../shared/shapes.ts';
import { toLine, toPairs } from './to-pairs.ts';

/** Presents a breadcrumb. A breadcrumb without a message, as SDKs record them, gets one from its data. */
export function presentBreadcrumb({ at, category, message, level = 'info', data = {} }: Breadcrumb): BreadcrumbShape {
  const told = message === '' ? tell(category, data) : { words: message, names: [] };
  const pairs = toPairs(data).filter(([name]) => !told.names.includes(name));
  return { at, category: toLine(category), message: toLine(told.words), level, data: pairs };
}

interface Told {
  readonly words: string;
  /** Data that the words already include. */
  readonly names: readonly string[];
}

function tell(category: string, { method, url, status_code: status, from, to }: NonNullable<Breadcrumb['data']>): Told {
  if ((category === 'fetch' || category === 'xhr') && url !== undefined) {
    const words = [method, url, status].filter((part) => part !== undefined).join(' ');
    return { words, names: ['method', 'url', 'status_code'] };
  }
  if (category === 'navigation' && to !== undefined) {
    return { words: from === undefined ? `to ${to}` : `from ${from} to ${to}`, names: ['from', 'to'] };
  }
  return { words: '', names: [] };
}
