import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import { redirect } from '#engine';
import { conflict, formAction, invalid, type ServerPage } from '#engine/server';
import type { FormsActions, FormsData, Gate } from '#product/pages/forms/forms.tsx';
import { Millisecond } from '../../../shared/units.ts';
import type { AppContext } from '../context.ts';

const MAX_GATES = 20;

const Message = z.object({
  name: z.string().trim().min(1, 'Please say who you are.').max(100, 'Please keep it below 100 characters.'),
  email: z.email('Please give a whole e-mail address, such as ada@example.org.'),
  message: z.string().trim().min(10, 'Please write at least ten characters.').max(2000, 'Please keep it below 2,000.'),
});

const NewGate = z.object({
  name: z.string().trim().min(1, 'A gate needs a name.').max(60, 'Please keep it below 60 characters.'),
});

const gates: Gate[] = [
  { id: 'gate-1', name: 'North gate' },
  { id: 'gate-2', name: 'South gate' },
];
let lastGate = gates.length;
let likes = 0;

export const forms = {
  loader: () => ({ gates: [...gates], likes }),
  actions: {
    send: formAction(Message, async ({ signal }) => {
      // So that you see it pending.
      await setTimeout(400 * Millisecond, undefined, { signal });
      return { sentAt: new Date() };
    }),

    add: formAction(NewGate, ({ data: { name } }) => {
      if (gates.some((other) => other.name === name)) {
        return conflict({ errors: { name: 'There is a gate of that name already.' } });
      }
      if (gates.length === MAX_GATES) {
        return conflict({ errors: { name: `There are ${MAX_GATES} gates. Remove one first.` } });
      }
      lastGate += 1;
      gates.push({ id: `gate-${lastGate}`, name });
      redirect('/tour/forms#gates');
    }),

    remove: ({ form }) => {
      const index = gates.findIndex(({ id }) => id === form.get('id'));
      if (index >= 0) gates.splice(index, 1); // gone already is as good
      redirect('/tour/forms#gates');
    },

    upload: ({ form }) => {
      const file = form.get('file');
      if (!(file instanceof File) || file.name === '') return invalid({ errors: { file: 'Please choose a file.' } });
      return { name: file.name, bytes: file.size, type: file.type };
    },

    like: () => {
      likes += 1;
      return { likes };
    },
  },
} satisfies ServerPage<FormsData, AppContext, FormsActions>;
