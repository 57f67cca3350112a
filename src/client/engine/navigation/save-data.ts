interface DataSaver {
  readonly connection?: { readonly saveData?: boolean };
}

/** The visitor pays for data (https://wicg.github.io/savedata/). */
export function hasSaveData(): boolean {
  return (navigator as unknown as DataSaver).connection?.saveData ?? false;
}
