import { createTodoStore, type TodoStore } from './api/todos/store.ts';
import type { Settings } from './settings.ts';

/** Opened once before the server listens, such as a database pool, and closed after the last response. */
export interface Services {
  readonly todos: TodoStore;
}

export const services = {
  open(_settings: Settings): Services {
    return { todos: createTodoStore() };
  },
};
