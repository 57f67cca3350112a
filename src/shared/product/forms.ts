import { createActionUses } from '#engine';
import type { pages } from '#product-server/pages/index.ts';

/** Forms and their results. A form that names an action which no page has does not compile. */
export const { Form, useActionResult, submitAs } = createActionUses<typeof pages>();
