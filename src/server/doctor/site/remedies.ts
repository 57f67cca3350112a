import type { Lines } from '../finding.ts';

/** The lines that fix a problem in each proxy. */
export const REMEDIES = {
  redirect: {
    nginx: 'return 308 https://$host$request_uri;    # in the server that listens on 80',
    HAProxy: 'http-request redirect scheme https code 308 unless { ssl_fc }',
    Caddy: 'write the name of the site without http://, and Caddy redirects automatically',
  },
  http2: {
    nginx: 'http2 on;',
    HAProxy: 'bind :443 ssl crt … alpn h2,http/1.1',
  },
  passHost: {
    nginx: 'proxy_set_header Host $http_host;',
    HAProxy: 'remove: http-request set-header Host …',
    Caddy: 'remove: header_up Host …',
  },
  passScheme: {
    nginx: 'proxy_set_header X-Forwarded-Proto $scheme;',
    HAProxy: 'http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]',
    Caddy: 'remove: header_up X-Forwarded-Proto …',
  },
  passAddress: {
    nginx: 'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
    HAProxy: 'option forwardfor',
    Caddy: 'remove: header_up X-Forwarded-For …',
  },
  replaceAddress: {
    nginx: 'proxy_set_header X-Forwarded-For $remote_addr;',
    HAProxy: 'http-request set-header X-Forwarded-For %[src]',
    Caddy: 'remove: trusted_proxies, if nothing is in front of Caddy',
  },
  replaceHost: {
    nginx: 'proxy_set_header X-Forwarded-Host $http_host;',
    HAProxy: 'http-request set-header X-Forwarded-Host %[req.hdr(host)]',
    Caddy: 'remove: trusted_proxies, if nothing is in front of Caddy',
  },
  passToken: {
    nginx: 'proxy_set_header Authorization $http_authorization;',
    HAProxy: 'remove: http-request del-header Authorization',
    Caddy: 'remove: header_up -Authorization',
  },
  stream: {
    nginx: 'proxy_buffering off;    # or remove: proxy_ignore_headers X-Accel-Buffering',
    HAProxy: 'option http-no-delay',
    Caddy: 'reverse_proxy … { flush_interval -1 }',
  },
  passEncoding: {
    setting: 'COMPRESSION=on',
    nginx: 'remove: proxy_set_header Accept-Encoding "";',
    HAProxy: 'remove: compression offload, http-request del-header Accept-Encoding',
    Caddy: 'remove: header_up -Accept-Encoding',
  },
  compressOnce: {
    nginx: 'gzip off;    # the server compresses',
    HAProxy: 'remove: filter compression',
    Caddy: 'remove: encode',
  },
  keepCacheHeaders: {
    nginx: 'remove: expires, add_header Cache-Control, etag off',
    HAProxy: 'remove: http-response set-header Cache-Control',
    Caddy: 'remove: header Cache-Control …',
  },
  cacheNothingPrivate: {
    nginx: 'remove: proxy_ignore_headers Cache-Control, proxy_cache_valid',
    HAProxy: 'remove: http-request cache-use',
  },
  acceptBodies: {
    nginx: 'client_max_body_size 2m;',
    HAProxy: 'remove: http-request deny if { req.body_size gt … }',
    Caddy: 'request_body { max_size 2MB }',
  },
  acceptHeaders: {
    nginx: 'large_client_header_buffers 4 16k;',
    HAProxy: 'tune.bufsize 32768    # in global',
    Caddy: 'servers { max_header_size 32kb }',
  },
  passUpgrades: {
    nginx:
      'proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;    # with the map in docs/operating.md',
    HAProxy: 'remove: http-request del-header Upgrade',
    Caddy: 'remove: header_up -Upgrade',
  },
  headersOnce: {
    nginx: 'remove the add_header of that name',
    HAProxy: 'remove the http-response add-header of that name',
    Caddy: 'remove the header of that name',
  },
  hideMetrics: {
    nginx: 'location = /metrics { return 404; }',
    HAProxy: 'http-request deny deny_status 404 if { path /metrics }',
    Caddy: 'respond /metrics 404',
  },
} satisfies Readonly<Record<string, Lines>>;
