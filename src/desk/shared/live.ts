import { DESK_PATH } from './href.ts';

/** Server-sent events that tell the desk's open pages to request their data again. */
export const LIVE_PATH = `${DESK_PATH}/live`;

/** Something changed in the store, or the stream has just begun. */
export const LIVE_EVENT = 'changed';
