import { KIND_WORDS } from '../../../shared/desk/words.ts';
import { explainReactError } from '../../../shared/engine/rendering/react-errors.ts';
import type { Incident } from '../store/records.ts';

/**
 * In words where React's production build gave a number, and where nothing was thrown: then a title is
 * the name of a kind and what tells one of it from another (`csp img-src cdn.example`).
 */
export function presentTitle({ kind, title }: Pick<Incident, 'kind' | 'title'>): string {
  if (title === kind) return KIND_WORDS[kind];
  if (title.startsWith(`${kind} `)) return `${KIND_WORDS[kind]}: ${title.slice(kind.length + 1)}`;
  return explainReactError(title) ?? title;
}
