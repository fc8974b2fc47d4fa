alter table dead_letter
  add column id           uuid,
  add column cause        text        not null default '',
  add column failures     jsonb       not null default '[]',
  add column trace_parent text,
  add column state        text        not null default 'Open',
  add column changed_at   timestamptz,
  add column changed_by   text,
  add column note         text,
  add column job          uuid,
  add column replays      integer     not null default 0,
  add column replayed_as  uuid,
  add column replayed_to  text;

-- As MessageIds.Derive and DeadLetterCause.Of make them.
update dead_letter letter set
  id = encode(set_byte(set_byte(substring(hashed.hash from 1 for 16), 6, (get_byte(hashed.hash, 6) & 15) | 128), 8, (get_byte(hashed.hash, 8) & 63) | 128), 'hex')::uuid,
  cause = rtrim(left(regexp_replace(left(reason, 160), '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\d+', '#', 'g'), 80))
from (select number, sha256(uuid_send(message_id) || convert_to('dead-letter ' || endpoint, 'UTF8')) as hash from dead_letter) hashed
where hashed.number = letter.number;

alter table dead_letter alter column id set not null, alter column cause drop default;

create unique index dead_letter_id on dead_letter (id);
create index dead_letter_state on dead_letter (state, number);
create index dead_letter_endpoint on dead_letter (endpoint, number);
create index dead_letter_key on dead_letter (key, number) where key is not null;
create index dead_letter_job on dead_letter (job, number) where state = 'Replaying';
create index dead_letter_replayed_as on dead_letter (replayed_as, replayed_to) where replayed_as is not null;
-- Holds all that grouping looks at, so that letters with their bodies are not read.
create index dead_letter_group on dead_letter (state, endpoint, code, cause, last_attempt);

comment on column dead_letter.number is 'The order of the list; a letter that comes back gets a new one.';
comment on column dead_letter.id is 'Follows from message and endpoint.';
comment on column dead_letter.state is 'Open, Replaying (a job has it), Replayed, Discarded.';

create table replay_job (
  id              uuid        not null primary key,
  command         text        not null unique,
  fingerprint     text        not null,
  request         jsonb       not null,
  state           text        not null,
  created_at      timestamptz not null,
  created_by      text        not null,
  reason          text,
  changed_at      timestamptz,
  changed_by      text,
  trouble         text,
  total           bigint      not null default 0,
  replayed        bigint      not null default 0,
  failed          bigint      not null default 0,
  replayed_before bigint      not null default 0,
  failed_before   bigint      not null default 0,
  owner           text,
  heard_at        timestamptz
);

create index replay_job_running on replay_job (id) where state = 'Running';

comment on table replay_job is 'Dead letters to be sent again. Whoever works on a job says so in heard_at; after 15 s of silence another host takes it.';
