/**
 * Browsers by the name before their version. The more specific ones are first, because all of them also contain Chrome
 * or Safari.
 */
const BROWSERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/([\d.]+)/],
  ['Opera', /\b(?:OPR|OPiOS|OPT)\/([\d.]+)/],
  ['Samsung Internet', /\bSamsungBrowser\/([\d.]+)/],
  ['Vivaldi', /\bVivaldi\/([\d.]+)/],
  ['Yandex Browser', /\bYaBrowser\/([\d.]+)/],
  ['UC Browser', /\bUCBrowser\/([\d.]+)/],
  ['DuckDuckGo', /\b(?:DuckDuckGo|Ddg)\/([\d.]+)/],
  ['Headless Chrome', /\bHeadlessChrome\/([\d.]+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/([\d.]+)/],
  ['Android WebView', /;\s*wv\).*\bChrome\/([\d.]+)/],
  ['Chrome', /\b(?:Chrome|CriOS|Chromium)\/([\d.]+)/],
  ['Safari', /\bVersion\/([\d.]+).*\bSafari\//],
  ['Internet Explorer', /\b(?:MSIE |Trident\/.*\brv:)([\d.]+)/],
];

/** Apps with an in-app browser. */
const APPS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Facebook', /\bFBA[NV]\//],
  ['Instagram', /\bInstagram\b/],
  ['LinkedIn', /\bLinkedInApp\b/],
  ['TikTok', /\b(?:musical_ly|BytedanceWebview|TikTok)\b/i],
  ['WeChat', /\bMicroMessenger\b/],
  ['Slack', /\bSlack\//],
];

/** Programs that are not browsers and begin with their name: `curl/8.4.0`, `Googlebot/2.1`. */
const ROBOT = /\b([\w.-]*(?:bot|crawler|spider|slurp|facebookexternalhit|lighthouse|preview)[\w.-]*)(?:\/([\d.]+))?/i;
const PROGRAM = /^([\w.-]{2,40})\/(\d[\w.]*)/;

/**
 * Describes a user agent: `Safari 17.4 on iPhone (iOS 17.4)`, `Chrome 128 on Windows`, `Googlebot 2.1, a robot`.
 * Browsers freeze or fake some of it, so this is only what they claim.
 *
 * @returns `an unknown browser` if nothing is recognized
 */
export function toAgentWords(agent: string): string {
  const text = agent.slice(0, MAX_READ);
  const robot = ROBOT.exec(text);
  if (robot?.[1]) return `${withVersion(robot[1], robot[2])}, a robot`;
  const browser = findBrowser(text);
  const app = APPS.find(([, pattern]) => pattern.test(text))?.[0];
  const system = findSystem(text);
  const program = PROGRAM.exec(text);
  if (!browser && !app && program?.[1] && program[1] !== 'Mozilla') return withVersion(program[1], program[2]);
  const name = app ? `${browser ?? 'a browser'} in ${app}` : browser;
  if (!name) return system ? `an unknown browser on ${system}` : 'an unknown browser';
  return system ? `${name} on ${system}` : name;
}

/** How much of a user agent is read (characters). Real ones are shorter. */
const MAX_READ = 1000;

function findBrowser(text: string): string | undefined {
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(text)?.[1];
    if (version) return withVersion(name, version);
  }
  // An in-app web view of iOS does not contain a Safari version.
  return /\bAppleWebKit\/.*\bMobile\//.test(text) ? 'Safari' : undefined;
}

function findSystem(text: string): string | undefined {
  const ios = /\b(iPhone|iPad|iPod)\b.*?\bOS (\d+(?:_\d+)?)/.exec(text);
  if (ios?.[1] && ios[2]) return `${ios[1]} (iOS ${ios[2].replace('_', '.')})`;
  const android = /\bAndroid(?: ([\d.]+))?(?:; ([^;)]+?)(?: Build\/[^;)]*)?[;)])?/.exec(text);
  if (android) return toAndroid(android[1], android[2]);
  if (/\bWindows\b/.test(text)) return toWindows(/\bWindows NT ([\d.]+)/.exec(text)?.[1]);
  if (/\bCrOS\b/.test(text)) return 'ChromeOS';
  // All browsers on macOS report 10.15.7.
  if (/\bMac OS X\b|\bMacintosh\b/.test(text)) return 'macOS';
  return /\bLinux\b|\bX11\b/.test(text) ? 'Linux' : undefined;
}

/** Chrome reports `K` instead of the model. */
function toAndroid(version: string | undefined, model: string | undefined): string {
  const system = withVersion('Android', version);
  const isTold = model && !/^(?:K|Mobile|Tablet|Linux|wv|U|rv:.*|[a-z]{2}-[a-z]{2})$/i.test(model);
  return isTold ? `${model} (${system})` : system;
}

/** Windows 11 also reports 10. */
function toWindows(version: string | undefined): string {
  const old = { '6.3': '8.1', '6.2': '8', '6.1': '7', '6.0': 'Vista', '5.1': 'XP' }[version ?? ''];
  return old ? `Windows ${old}` : 'Windows';
}

/** Shortens a version to its first parts: `Chrome 128`, `Safari 17.4`. */
function withVersion(name: string, version: string | undefined): string {
  const [major, minor] = version?.split('.') ?? [];
  if (!major) return name;
  return minor && minor !== '0' ? `${name} ${major}.${minor}` : `${name} ${major}`;
}
