/** Thrown when a receiver did not answer in time. */
export class LateTargetError extends Error {
  constructor() {
    super('It did not answer in time.');
    this.name = 'LateTargetError';
  }
}

/** @param ms the time limit. @throws LateTargetError */
export async function withinTime<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new LateTargetError()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
