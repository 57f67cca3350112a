import type { ContentSources } from '../engine/http/content-policy.ts';

/** Sources beyond this site that pages may use, such as `{ image: ['https://images.example'] }`. */
export const contentSources: ContentSources = {};
