import { createSignatureFunctionForTransform, injectIntoGlobalHook, register } from 'react-refresh/runtime';

export { performReactRefresh } from 'react-refresh/runtime';

injectIntoGlobalHook(window);
if (globalThis.__spillway) {
  globalThis.__spillway.register = register;
  globalThis.__spillway.createSignature = createSignatureFunctionForTransform;
}
