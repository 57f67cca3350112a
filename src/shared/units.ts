/** Durations in milliseconds: `5 * Second` is clearer than `5000` and cannot be mistaken for seconds. */
export const Millisecond = 1;
export const Second = 1000 * Millisecond;
export const Minute = 60 * Second;
export const Hour = 60 * Minute;
export const Day = 24 * Hour;

/** Sizes in bytes. */
export const KiB = 1024;
export const MiB = 1024 * KiB;
