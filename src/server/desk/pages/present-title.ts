import { explainReactError } from '../../../shared/engine/react-errors.ts';

/** In words where React's production build gave a number. */
export function presentTitle(title: string): string {
  return explainReactError(title) ?? title;
}
