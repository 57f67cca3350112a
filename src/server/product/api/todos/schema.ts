import * as z from 'zod';

const title = z.string().trim().min(1, 'Say what is to be done.').max(200, 'Please keep it below 200 characters.');

export const NewTodo = z.strictObject({ title });

export const TodoPatch = z
  .strictObject({ title: title.optional(), done: z.boolean().optional() })
  .refine((patch) => Object.keys(patch).length > 0, 'Send a title, or done, or both.');
