import fc from 'fast-check';

// A change fails for what it changed, and not for values that came by chance: the same ones each time.
// `SEED=2 npm test` tries others, and `.ci/soak` does each night.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.SEED ?? 1) });
