import { StartError } from '../start-error.ts';

/** Thrown at start if parts of the product do not fit together. The message says what to correct, and where. */
export class WiringError extends StartError {}

export const PRODUCT_FILE = 'src/server/product/index.ts';
