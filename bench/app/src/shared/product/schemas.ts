import * as z from 'zod';

export type Station = z.infer<typeof Station>;
export const Station = z.object({
  id: z.int(),
  name: z.string(),
  river: z.string(),
  position: z.object({ latitude: z.number(), longitude: z.number() }),
  operator: z.string().optional(),
  sensors: z.array(
    z.object({
      kind: z.enum(['level', 'flow', 'temperature']),
      unit: z.string(),
      value: z.number(),
      measuredAt: z.iso.datetime(),
      isValid: z.boolean(),
    }),
  ),
});

export type NewReadings = z.infer<typeof NewReadings>;
export const NewReadings = z.strictObject({
  station: z.string().min(1).max(80),
  readings: z
    .array(z.strictObject({ at: z.iso.datetime(), value: z.number(), note: z.string().max(80) }))
    .min(1)
    .max(100),
});

export type Readings = z.infer<typeof Readings>;
export const Readings = NewReadings.extend({ id: z.int(), mean: z.number() });
