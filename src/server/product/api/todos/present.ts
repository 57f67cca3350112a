import type { Todo } from './store.ts';

export function presentTodo({ id, title, done, createdAt }: Todo) {
  return { id, title, done, createdAt: createdAt.toISOString() };
}
