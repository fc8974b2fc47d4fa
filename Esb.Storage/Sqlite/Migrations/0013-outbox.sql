-- Messages that were stored with a change and are still to be published, those of an owner in their order.
create table outbox (
  number          integer primary key autoincrement,
  id              text not null unique,
  owner           text not null,
  claimed_until   integer not null,
  endpoint        text not null,
  process         text,
  step            text,
  caused_by       text,
  trace_parent    text,
  message_id      text not null,
  conversation_id text not null,
  subject         text not null,
  content_type    text,
  correlation_id  text,
  key             text,
  party           text,
  created_at      integer not null,
  attempt         integer not null,
  headers         text not null,
  body            blob not null
) strict;

create index outbox_owner on outbox (owner, number);
