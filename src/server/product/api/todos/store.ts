import type { NewTodo, Todo, TodoPatch } from '#product/api/todos.ts';

/** Everyone can add to the list, so it drops its oldest entry when it is full. */
const MAX_TODOS = 100;

export interface TodoStore {
  list(): Todo[];
  find(id: number): Todo | undefined;
  add(todo: NewTodo): Todo;
  change(todo: Todo, patch: TodoPatch): Todo;
  remove(todo: Todo): void;
}

/** Kept in memory: lost on restart, and separate on each replica. */
export function createTodoStore(): TodoStore {
  const todos = new Map<number, Todo>();
  let lastId = 0;

  function put(todo: Todo): Todo {
    todos.set(todo.id, todo);
    return todo;
  }

  return {
    list: () => [...todos.values()],
    find: (id) => todos.get(id),
    add({ title }) {
      const [oldest] = todos.keys();
      if (todos.size === MAX_TODOS && oldest !== undefined) todos.delete(oldest);
      lastId += 1;
      return put({ id: lastId, title, done: false, createdAt: new Date().toISOString() });
    },
    change: (todo, patch) => put({ ...todo, ...patch }),
    remove: ({ id }) => todos.delete(id),
  };
}
