create table outbox (
  number          bigint      generated always as identity primary key,
  id              uuid        not null unique,
  owner           text        not null,
  claimed_until   timestamptz not null,
  endpoint        text        not null,
  process         text,
  step            text,
  caused_by       uuid,
  trace_parent    text,
  message_id      uuid        not null,
  conversation_id uuid        not null,
  subject         text        not null,
  content_type    text,
  correlation_id  text,
  key             text,
  party           text,
  created_at      timestamptz not null,
  attempt         integer     not null,
  headers         jsonb       not null,
  body            bytea       not null
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_limit = 2000);

create index outbox_owner on outbox (owner, number);

comment on table outbox is 'Messages that were stored with a change and are still to be published, those of an owner in their order.';
