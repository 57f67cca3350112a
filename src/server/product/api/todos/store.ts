import type * as z from 'zod';
import type { NewTodo, TodoPatch } from './schema.ts';

/** Everyone can add to the list, so it drops its oldest entry when it is full. */
const MAX_TODOS = 100;

export interface Todo {
  id: number;
  title: string;
  done: boolean;
  createdAt: Date;
}

export interface TodoStore {
  list(): Todo[];
  find(id: string): Todo | undefined;
  add(todo: z.infer<typeof NewTodo>): Todo;
  change(todo: Todo, patch: z.infer<typeof TodoPatch>): Todo;
  remove(todo: Todo): void;
}

/** Kept in memory: lost on restart, and separate on each replica. */
export function createTodoStore(): TodoStore {
  const todos = new Map<string, Todo>();
  let lastId = 0;

  function put(todo: Todo): Todo {
    todos.set(String(todo.id), todo);
    return todo;
  }

  return {
    list: () => [...todos.values()],
    find: (id) => todos.get(id),
    add({ title }) {
      const [oldest] = todos.keys();
      if (todos.size === MAX_TODOS && oldest !== undefined) todos.delete(oldest);
      lastId += 1;
      return put({ id: lastId, title, done: false, createdAt: new Date() });
    },
    change: (todo, patch) => put({ ...todo, ...patch }),
    remove: ({ id }) => todos.delete(String(id)),
  };
}
