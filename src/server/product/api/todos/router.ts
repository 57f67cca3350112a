import { type Request, Router } from 'express';
import { jsonBody, notFoundHere, resource } from '#engine/server';
import { sendInvalid } from '../send-invalid.ts';
import { presentTodo } from './present.ts';
import { NewTodo, TodoPatch } from './schema.ts';
import type { Todo, TodoStore } from './store.ts';

export function todosRouter(todos: TodoStore): Router {
  function requireTodo({ params }: Request): Todo {
    const todo = todos.find(String(params.id));
    if (!todo) throw notFoundHere();
    return todo;
  }

  const list = resource('/todos', {
    GET: (_request, response) => {
      response.json(todos.list().map(presentTodo));
    },
    POST: [
      ...jsonBody(),
      (request, response) => {
        const body = NewTodo.safeParse(request.body);
        if (!body.success) return sendInvalid(response, body.error);
        const todo = todos.add(body.data);
        response.status(201).location(`${request.baseUrl}/todos/${todo.id}`).json(presentTodo(todo));
      },
    ],
  });

  const one = resource('/todos/:id', {
    GET: (request, response) => {
      response.json(presentTodo(requireTodo(request)));
    },
    PATCH: [
      ...jsonBody(),
      (request, response) => {
        const todo = requireTodo(request);
        const body = TodoPatch.safeParse(request.body);
        if (!body.success) return sendInvalid(response, body.error);
        response.json(presentTodo(todos.change(todo, body.data)));
      },
    ],
    DELETE: (request, response) => {
      todos.remove(requireTodo(request));
      response.status(204).end();
    },
  });

  return Router().use(list, one);
}
