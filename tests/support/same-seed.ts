import fc from 'fast-check';

// Uses the same random values in every run, so that a new failure is caused by a change and not by chance.
// `SEED=2 npm test` tries other values, and `.ci/soak` does so each night.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.SEED ?? 1) });
