/** The build replaces these names; browsers have no `process`. */
declare const process: {
  readonly env: {
    readonly NODE_ENV: 'production' | 'development';
    /** `1` under `npm run dev`. Code behind it is not in a production bundle. */
    readonly SPILLWAY_DEV: '1' | '';
  };
};
