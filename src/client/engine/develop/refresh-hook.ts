import { injectIntoGlobalHook } from 'react-refresh/runtime';

export { performReactRefresh } from 'react-refresh/runtime';

injectIntoGlobalHook(window);
