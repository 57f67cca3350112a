import * as z from 'zod';
import { operation } from '#engine';
import { NewReadings, Readings, Station } from './schemas.ts';

export const stations = {
  getStation: operation({
    method: 'GET',
    path: '/stations/:id',
    summary: 'Get a station',
    params: z.object({ id: z.int() }),
    replies: { 200: { about: 'The station.', body: Station } },
    problems: { 404: 'There is no station with this id.' },
  }),
  addReadings: operation({
    method: 'POST',
    path: '/readings',
    summary: 'Add readings',
    body: NewReadings,
    replies: { 201: { about: 'The stored readings.', body: Readings } },
  }),
};
