declare module '*.module.css' {
  /** By the name in the sheet, the name in the page. */
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
declare module '*.css';

// The URL of an asset, as the build's `assetLoaders` name it.
declare module '*.svg' {
  const url: string;
  export default url;
}
declare module '*.png' {
  const url: string;
  export default url;
}
declare module '*.jpg' {
  const url: string;
  export default url;
}
declare module '*.webp' {
  const url: string;
  export default url;
}
declare module '*.avif' {
  const url: string;
  export default url;
}
declare module '*.woff2' {
  const url: string;
  export default url;
}
