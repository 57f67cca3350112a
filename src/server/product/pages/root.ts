import * as z from 'zod';
import { formAction, type ServerPage } from '#engine/server';
import type { RootActions } from '#product/pages/root/page-note.tsx';
import type { AppContext } from '../context.ts';

const Note = z.object({ text: z.string().trim().min(3, 'Write at least three characters.').max(200) });

export const root = {
  actions: {
    note: formAction(Note, ({ data }) => ({ text: data.text })),
  },
} satisfies ServerPage<unknown, AppContext, RootActions>;
