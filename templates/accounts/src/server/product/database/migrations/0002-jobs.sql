-- Background jobs. A job that has failed too often has no time at which it runs.
CREATE TABLE jobs (
  id text PRIMARY KEY,
  name text NOT NULL,
  input text NOT NULL,
  attempts integer NOT NULL,
  run_at timestamptz,
  failure text
);

CREATE INDEX jobs_run_at ON jobs (run_at);
