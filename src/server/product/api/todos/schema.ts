import * as z from 'zod';

const title = z.string().trim().min(1, 'Enter a title.').max(200, 'Use at most 200 characters.');

export const NewTodo = z.strictObject({ title });

export const TodoPatch = z
  .strictObject({ title: title.optional(), done: z.boolean().optional() })
  .refine((patch) => Object.keys(patch).length > 0, 'Send title, done or both.');
