declare module 'react-refresh/runtime' {
  export function injectIntoGlobalHook(window: Window): void;
  export function performReactRefresh(): void;
  export function register(type: unknown, id: string): void;
  export function createSignatureFunctionForTransform(): unknown;
}
