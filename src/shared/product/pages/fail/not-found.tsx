import { notFound } from '../../../engine/outcome.ts';

export default function FailNotFound(): never {
  notFound();
}
