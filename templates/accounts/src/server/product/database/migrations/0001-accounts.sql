-- Migrations run on SQLite and on PostgreSQL. Times are texts such as 2026-01-31T12:00:00.000Z.

CREATE TABLE users (
  id text PRIMARY KEY,
  email text NOT NULL UNIQUE,
  password_hash text NOT NULL,
  created_at timestamptz NOT NULL
);

-- Only hashes of tokens are stored, so nobody can sign in with a copy of the database.
CREATE TABLE sessions (
  token_hash text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL
);

CREATE INDEX sessions_user_id ON sessions (user_id);

-- Links in mails, which let their reader choose a password.
CREATE TABLE links (
  token_hash text PRIMARY KEY,
  email text NOT NULL,
  expires_at timestamptz NOT NULL
);

CREATE INDEX links_email ON links (email);

-- How often something was tried, such as signing in to an account.
CREATE TABLE attempts (
  key text PRIMARY KEY,
  count integer NOT NULL,
  ends_at timestamptz NOT NULL
);
