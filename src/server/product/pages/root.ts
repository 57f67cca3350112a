import * as z from 'zod';
import { formAction } from '#engine/server';
import { definePage } from '../context.ts';

const Note = z.object({ text: z.string().trim().min(3, 'Write at least three characters.').max(200) });

export const root = definePage({
  actions: {
    note: formAction(Note, ({ data }) => ({ text: data.text })),
  },
});
