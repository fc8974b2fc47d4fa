create table lane_owner (
  endpoint text        not null,
  lane     integer     not null,
  token    bigint      not null,
  taken_at timestamptz not null default now(),
  primary key (endpoint, lane)
);

comment on table lane_owner is 'Who works on a lane: the larger token wins, whoever comes with an earlier one is refused.';

-- Keys may be longer than an entry of an index, so they are found by their SHA-256.
create table parked_key (
  endpoint     text        not null,
  key_hash     bytea       not null,
  key          text        not null,
  since        timestamptz not null,
  due_at       timestamptz,
  leased_until timestamptz,
  count        bigint      not null default 0,
  primary key (endpoint, key_hash)
);

create index parked_key_due on parked_key (endpoint, due_at) where due_at is not null;
create index parked_key_since on parked_key (since);

comment on table parked_key is 'Keys whose messages wait behind one that failed. Whoever changes the line of a key holds the lock of its row.';
comment on column parked_key.due_at is 'When its first message is tried again; null where it waits for an operator.';
comment on column parked_key.leased_until is 'Until then a host is releasing it.';

create table parked_message (
  number          bigint generated always as identity primary key,
  endpoint        text        not null,
  key_hash        bytea       not null,
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
  body            bytea       not null,
  parked_at       timestamptz not null,
  failures        jsonb       not null,
  unique (endpoint, key_hash, message_id),
  foreign key (endpoint, key_hash) references parked_key
);

create index parked_message_line on parked_message (endpoint, key_hash, number);

comment on table parked_message is 'The lines of parked keys, in the order of number.';

create table attempt (
  endpoint   text        not null,
  message_id uuid        not null,
  marks      integer     not null,
  marked_at  timestamptz not null,
  primary key (endpoint, message_id)
);

comment on table attempt is 'Messages that are being sent although a process died of one of them; what is left here when a process dies is suspicious.';
