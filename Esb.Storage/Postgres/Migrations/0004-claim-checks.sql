create table claim_check (
  id      uuid        not null,
  kept_at timestamptz not null,
  body    bytea       not null,
  primary key (id, kept_at)
) partition by range (kept_at);

-- What is large is compressed elsewhere, or not at all: attempts here only cost time.
alter table claim_check alter column body set storage external;

comment on table claim_check is 'Bodies of messages that travel as a reference. Ids are version 7 UUIDs, and hold the time.';
