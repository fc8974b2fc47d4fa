create table dead_letter (
  number          bigint generated always as identity primary key,
  message_id      uuid        not null,
  endpoint        text        not null,
  conversation_id uuid        not null,
  subject         text        not null,
  content_type    text,
  correlation_id  text,
  key             text,
  party           text,
  created_at      timestamptz not null,
  attempt         integer     not null,
  headers         jsonb       not null,
  body            bytea       not null,
  code            text        not null,
  reason          text        not null,
  exception_type  text,
  attempts        integer     not null,
  first_attempt   timestamptz not null,
  last_attempt    timestamptz not null,
  unique (message_id, endpoint)
);

comment on table dead_letter is 'Messages that could not be delivered, until an operator decides.';
