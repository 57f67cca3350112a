import type { Router } from 'express';
import { notFoundHere, resource } from '#engine/server';
import type { Settings } from '../../settings.ts';

/** A handler that throws: the answer carries a digest and nothing of the message. */
export function failRouter({ tourFailures }: Settings): Router {
  return resource('/fail', {
    GET: () => {
      if (!tourFailures) throw notFoundHere();
      throw new Error('The tour threw this in an API handler.');
    },
  });
}
