import { type ApiPart, implement, notFoundHere } from '#engine/server';
import { type Todo, todos } from '#product/api/todos.ts';
import type { TodoStore } from './store.ts';

export function todosApi(store: TodoStore): ApiPart {
  return implement(todos, {
    listTodos: () => ({ status: 200, body: store.list() }),
    createTodo({ body }) {
      const todo = store.add(body);
      return { status: 201, body: todo, headers: { Location: `/api/tour/todos/${todo.id}` } };
    },
    getTodo: ({ params }) => ({ status: 200, body: requireTodo(params) }),
    changeTodo: ({ params, body }) => ({ status: 200, body: store.change(requireTodo(params), body) }),
    deleteTodo({ params }) {
      store.remove(requireTodo(params));
      return { status: 204 };
    },
  });

  function requireTodo({ id }: Pick<Todo, 'id'>): Todo {
    const todo = store.find(id);
    if (!todo) throw notFoundHere();
    return todo;
  }
}
