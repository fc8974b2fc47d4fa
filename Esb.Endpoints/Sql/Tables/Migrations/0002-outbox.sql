-- What transactions publish, until the broker has confirmed it. Messages of one key have one lane, and within it the order of their commits.
create table esb.transaction_outbox (
  position   bigint      generated always as identity,
  created_at timestamptz not null default clock_timestamp(),
  bus        text        not null,
  lane       smallint    not null,
  key_hash   bigint,
  message_id uuid        not null,
  subject    text        not null,
  envelope   text        not null,
  body       bytea       not null,
  primary key (position, created_at)
) partition by range (created_at);

create index on esb.transaction_outbox (bus, lane, position);

comment on table esb.transaction_outbox is 'Messages that steps "transaction" published and that are on their way to a topic of the bus of that name.';
comment on column esb.transaction_outbox.envelope is 'All of the message but its body, as JSON.';
