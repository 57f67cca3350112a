import type { Remedy } from '../finding.ts';

/** The line that mends something, in each place where it can be mended. */
function createRemedies(lines: Partial<Readonly<Record<Remedy['place'], string>>>): readonly Remedy[] {
  const places = ['setting', 'nginx', 'HAProxy', 'Caddy'] as const;
  return places.flatMap((place) => {
    const line = lines[place];
    return line === undefined ? [] : [{ place, line }];
  });
}

export const REDIRECT = createRemedies({
  nginx: 'return 308 https://$host$request_uri;    # in the server that listens on 80',
  HAProxy: 'http-request redirect scheme https code 308 unless { ssl_fc }',
  Caddy: 'name the site without http:// in front: it redirects by itself',
});

export const HTTP2 = createRemedies({
  nginx: 'http2 on;',
  HAProxy: 'bind :443 ssl crt … alpn h2,http/1.1',
});

export const PASS_HOST = createRemedies({
  nginx: 'proxy_set_header Host $http_host;',
  HAProxy: 'leave out: http-request set-header Host …',
  Caddy: 'leave out: header_up Host …',
});

export const PASS_SCHEME = createRemedies({
  nginx: 'proxy_set_header X-Forwarded-Proto $scheme;',
  HAProxy: 'http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]',
  Caddy: 'leave out: header_up X-Forwarded-Proto …',
});

export const PASS_ADDRESS = createRemedies({
  nginx: 'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
  HAProxy: 'option forwardfor',
  Caddy: 'leave out: header_up X-Forwarded-For …',
});

export const REPLACE_ADDRESS = createRemedies({
  nginx: 'proxy_set_header X-Forwarded-For $remote_addr;',
  HAProxy: 'http-request set-header X-Forwarded-For %[src]',
  Caddy: 'leave out: trusted_proxies, where nothing stands in front of Caddy',
});

export const REPLACE_HOST = createRemedies({
  nginx: 'proxy_set_header X-Forwarded-Host $http_host;',
  HAProxy: 'http-request set-header X-Forwarded-Host %[req.hdr(host)]',
  Caddy: 'leave out: trusted_proxies, where nothing stands in front of Caddy',
});

export const PASS_TOKEN = createRemedies({
  nginx: 'proxy_set_header Authorization $http_authorization;',
  HAProxy: 'leave out: http-request del-header Authorization',
  Caddy: 'leave out: header_up -Authorization',
});

export const STREAM = createRemedies({
  nginx: 'proxy_buffering off;    # or leave out: proxy_ignore_headers X-Accel-Buffering',
  HAProxy: 'option http-no-delay',
  Caddy: 'reverse_proxy … { flush_interval -1 }',
});

export const STREAM_COMPRESSED = createRemedies({
  nginx: 'gzip off;    # the server compresses by itself',
  HAProxy: 'leave out: filter compression',
  Caddy: 'leave out: encode',
});

export const PASS_ENCODING = createRemedies({
  setting: 'COMPRESSION=on',
  nginx: 'leave out: proxy_set_header Accept-Encoding "";',
  HAProxy: 'leave out: compression offload, http-request del-header Accept-Encoding',
  Caddy: 'leave out: header_up -Accept-Encoding',
});

export const COMPRESS_ONCE = createRemedies({
  nginx: 'gzip off;',
  HAProxy: 'leave out: filter compression',
  Caddy: 'leave out: encode',
});

export const KEEP_CACHE_HEADERS = createRemedies({
  nginx: 'leave out: expires, add_header Cache-Control, etag off',
  HAProxy: 'leave out: http-response set-header Cache-Control',
  Caddy: 'leave out: header Cache-Control …',
});

export const CACHE_NOTHING_PRIVATE = createRemedies({
  nginx: 'leave out: proxy_ignore_headers Cache-Control, proxy_cache_valid',
  HAProxy: 'leave out: http-request cache-use',
});

export const LET_BODIES_IN = createRemedies({
  nginx: 'client_max_body_size 2m;',
  HAProxy: 'leave out: http-request deny if { req.body_size gt … }',
  Caddy: 'request_body { max_size 2MB }',
});

export const LET_HEADERS_IN = createRemedies({
  nginx: 'large_client_header_buffers 4 16k;',
  HAProxy: 'tune.bufsize 32768    # in global',
  Caddy: 'servers { max_header_size 32kb }',
});

export const PASS_UPGRADES = createRemedies({
  nginx:
    'proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;    # with its map, as docs/operating.md has it',
  HAProxy: 'leave out: http-request del-header Upgrade',
  Caddy: 'leave out: header_up -Upgrade',
});

export const HEADERS_ONCE = createRemedies({
  nginx: 'leave out the add_header of that name',
  HAProxy: 'leave out the http-response add-header of that name',
  Caddy: 'leave out the header of that name',
});

export const HIDE_METRICS = createRemedies({
  setting: 'DESK_PORT=3001    # for an inner network',
  nginx: 'location = /metrics { return 404; }',
  HAProxy: 'http-request deny deny_status 404 if { path /metrics }',
  Caddy: 'respond /metrics 404',
});

export const OWN_NAME = createRemedies({
  nginx: 'proxy_set_header X-Forwarded-User $remote_user;    # and where nginx does not authenticate: ""',
  HAProxy: 'http-request del-header X-Forwarded-User',
  Caddy: 'header_up -X-Forwarded-User',
});
