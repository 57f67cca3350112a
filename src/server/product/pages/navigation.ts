import * as z from 'zod';
import { definePage } from '../context.ts';

export const navigationSearch = z.object({ from: z.enum(['spring', 'weir']).optional() });

export const navigation = definePage({ search: navigationSearch });
