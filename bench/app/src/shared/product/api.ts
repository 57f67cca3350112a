import * as z from 'zod';
import { operation } from '#engine';

const Sensor = z.object({
  kind: z.enum(['level', 'flow', 'temperature']),
  unit: z.string(),
  value: z.number(),
  measuredAt: z.iso.datetime(),
  isValid: z.boolean(),
});

export type Station = z.infer<typeof Station>;
export const Station = z.object({
  id: z.int(),
  name: z.string(),
  operator: z.string().optional(),
  sensors: z.array(Sensor),
});

export const stations = {
  getStation: operation({
    method: 'GET',
    path: '/stations/:id',
    summary: 'Get a station',
    params: z.object({ id: z.int() }),
    replies: { 200: { about: 'The station.', body: Station } },
    problems: { 404: 'There is no station with this id.' },
  }),
};
