import { notFound } from '#engine';

export default function FailNotFound(): never {
  notFound();
}
