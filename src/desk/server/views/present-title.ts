import { explainReactError } from '../../../shared/rendering/react-errors.ts';
import { KIND_WORDS } from '../../shared/words.ts';
import type { Incident } from '../store/records.ts';

/**
 * Explains the numbered errors of React's production build. If nothing was thrown, returns the name of the kind and
 * what distinguishes it (`csp img-src cdn.example`).
 */
export function presentTitle({ kind, title }: Pick<Incident, 'kind' | 'title'>): string {
  if (title === kind) return KIND_WORDS[kind];
  if (title.startsWith(`${kind} `)) return `${KIND_WORDS[kind]}: ${title.slice(kind.length + 1)}`;
  return explainReactError(title) ?? title;
}
