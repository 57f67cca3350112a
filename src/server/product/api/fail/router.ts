import type { Router } from 'express';
import { notFoundHere, resource } from '#engine/server';
import type { Settings } from '../../settings.ts';

/** A handler that throws. The response has a digest and no message. */
export function failRouter({ tourFailures }: Settings): Router {
  return resource('/tour/fail', {
    GET: () => {
      if (!tourFailures) throw notFoundHere();
      throw new Error('The tour threw this in an API handler.');
    },
  });
}
