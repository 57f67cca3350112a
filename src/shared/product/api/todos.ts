import * as z from 'zod';
import { operation } from '#engine';

const title = z.string().trim().min(1, 'Enter a title.').max(200, 'Use at most 200 characters.');

/** What callers send. Unknown fields are refused. */
export type NewTodo = z.infer<typeof NewTodo>;
export const NewTodo = z.strictObject({ title }).meta({ id: 'NewTodo' });

export type TodoPatch = z.infer<typeof TodoPatch>;
export const TodoPatch = z
  .strictObject({ title: title.optional(), done: z.boolean().optional() })
  .refine((patch) => Object.keys(patch).length > 0, 'Send title, done or both.')
  .meta({ id: 'TodoPatch', minProperties: 1 });

/** What callers get. Only these fields of a stored to-do are sent. */
export type Todo = z.infer<typeof Todo>;
export const Todo = z
  .object({ id: z.int(), title: z.string(), done: z.boolean(), createdAt: z.iso.datetime() })
  .meta({ id: 'Todo' });

const params = z.object({ id: z.int() });
const problems = { 404: 'There is no to-do with this id.' };

export const todos = {
  listTodos: operation({
    method: 'GET',
    path: '/tour/todos',
    summary: 'List to-dos',
    replies: { 200: { about: 'The to-dos, oldest first.', body: Todo.array() } },
  }),
  createTodo: operation({
    method: 'POST',
    path: '/tour/todos',
    summary: 'Create a to-do',
    body: NewTodo,
    replies: { 201: { about: 'The new to-do.', body: Todo, headers: { Location: 'Its URL.' } } },
  }),
  getTodo: operation({
    method: 'GET',
    path: '/tour/todos/:id',
    summary: 'Get a to-do',
    params,
    replies: { 200: { about: 'The to-do.', body: Todo } },
    problems,
  }),
  changeTodo: operation({
    method: 'PATCH',
    path: '/tour/todos/:id',
    summary: 'Change a to-do',
    params,
    body: TodoPatch,
    replies: { 200: { about: 'The changed to-do.', body: Todo } },
    problems,
  }),
  deleteTodo: operation({
    method: 'DELETE',
    path: '/tour/todos/:id',
    summary: 'Delete a to-do',
    params,
    replies: { 204: { about: 'The to-do is deleted.' } },
    problems,
  }),
};
