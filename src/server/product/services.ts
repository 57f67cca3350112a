import { createTodoStore, type TodoStore } from './api/todos/store.ts';
import type { Settings } from './settings.ts';

/** What is opened once at the start, such as a database pool, and closed when the last request is answered. */
export interface Services {
  readonly todos: TodoStore;
}

export const services = {
  open(_settings: Settings): Services {
    return { todos: createTodoStore() };
  },
};
