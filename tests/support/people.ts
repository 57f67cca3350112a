/** The operator and the viewer of tests. */
export const ADA = { name: 'ada', token: 'ada-has-a-long-token', role: 'operator' } as const;
export const VERA = { name: 'vera', token: 'vera-has-a-long-token', role: 'viewer' } as const;
