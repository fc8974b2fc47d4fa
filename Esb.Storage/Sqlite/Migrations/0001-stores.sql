-- Ids are text, times 100 ns since 1970: datetime(x / 10000000, 'unixepoch') shows one. JSON is text.

-- Messages that could not be delivered, until an operator decides. number is the order of the list; a letter that comes back gets a new one. id follows from message and endpoint.
create table dead_letter (
  number          integer primary key autoincrement,
  id              text    not null unique,
  message_id      text    not null,
  endpoint        text    not null,
  conversation_id text    not null,
  subject         text    not null,
  content_type    text,
  correlation_id  text,
  key             text,
  party           text,
  created_at      integer not null,
  attempt         integer not null,
  headers         text    not null,
  code            text    not null,
  reason          text    not null,
  exception_type  text,
  attempts        integer not null,
  first_attempt   integer not null,
  last_attempt    integer not null,
  cause           text    not null,
  failures        text    not null,
  trace_parent    text,
  state           text    not null default 'Open', -- Open, Replaying (a job has it), Replayed, Discarded
  changed_at      integer,
  changed_by      text,
  note            text,
  job             text,
  replays         integer not null default 0,
  replayed_as     text,
  replayed_to     text,
  body            blob    not null
) strict;

create index dead_letter_state on dead_letter (state, number);
create index dead_letter_endpoint on dead_letter (endpoint, number);
create index dead_letter_message on dead_letter (message_id);
create index dead_letter_key on dead_letter (substr(key, 1, 256), number) where key is not null;
create index dead_letter_job on dead_letter (job, number) where job is not null;
create index dead_letter_replayed_as on dead_letter (replayed_as, replayed_to) where replayed_as is not null;
create index dead_letter_settled on dead_letter (changed_at) where state in ('Replayed', 'Discarded');
-- Holds all that grouping looks at, so that letters with their bodies are not read.
create index dead_letter_group on dead_letter (state, endpoint, code, cause, last_attempt);

-- No number is given twice.
create trigger dead_letter_renumbered after update of number on dead_letter begin
  update sqlite_sequence set seq = max(seq, new.number) where name = 'dead_letter';
end;

-- Dead letters to be sent again. Whoever works on a job says so in heard_at; after 15 s of silence it is taken by another.
create table replay_job (
  id              text    not null primary key,
  command         text    not null unique,
  fingerprint     text    not null,
  request         text    not null,
  state           text    not null,
  created_at      integer not null,
  created_by      text    not null,
  reason          text,
  changed_at      integer,
  changed_by      text,
  trouble         text,
  total           integer not null default 0,
  replayed        integer not null default 0,
  failed          integer not null default 0,
  replayed_before integer not null default 0,
  failed_before   integer not null default 0,
  owner           text,
  heard_at        integer
) strict, without rowid;

create index replay_job_running on replay_job (id) where state = 'Running';

-- Who works on a lane: the larger token wins, whoever comes with an earlier one is refused.
create table lane_owner (
  endpoint text    not null,
  lane     integer not null,
  token    integer not null,
  taken_at integer not null,
  primary key (endpoint, lane)
) strict, without rowid;

-- Keys whose messages wait behind one that failed. due_at: when the first message is tried again; null where it waits for an operator.
-- leased_until: until then the host is releasing it. Keys may be long, so they are found by their SHA-256.
create table parked_key (
  endpoint     text    not null,
  key_hash     blob    not null,
  key          text    not null,
  since        integer not null,
  due_at       integer,
  leased_until integer,
  count        integer not null default 0,
  primary key (endpoint, key_hash)
) strict, without rowid;

create index parked_key_due on parked_key (endpoint, due_at) where due_at is not null;
create index parked_key_since on parked_key (since);

-- The lines of parked keys, in the order of number.
create table parked_message (
  number          integer primary key autoincrement,
  endpoint        text    not null,
  key_hash        blob    not null,
  message_id      text    not null,
  conversation_id text    not null,
  subject         text    not null,
  content_type    text,
  correlation_id  text,
  key             text,
  party           text,
  created_at      integer not null,
  attempt         integer not null,
  headers         text    not null,
  parked_at       integer not null,
  failures        text    not null,
  body            blob    not null,
  unique (endpoint, key_hash, message_id),
  foreign key (endpoint, key_hash) references parked_key
) strict;

create index parked_message_line on parked_message (endpoint, key_hash, number);

-- Messages that are repeated in place (attempts), or are being sent although a process died of one of them (marks).
create table attempt (
  endpoint   text    not null,
  message_id text    not null,
  marks      integer not null,
  marked_at  integer not null,
  attempts   integer not null default 0,
  failures   text    not null default '[]',
  due_at     integer,
  primary key (endpoint, message_id)
) strict, without rowid;

create index attempt_marked on attempt (marked_at);

-- Requests by the keys of their senders, and what they were answered (status is null until then). An answer with a process counts in that process only.
create table idempotency_key (
  endpoint     text    not null,
  client       text    not null,
  key          text    not null,
  claimed_at   integer not null,
  body_hash    blob    not null,
  token        text    not null,
  held_until   integer not null,
  process      text,
  status       integer,
  content_type text,
  headers      text,
  body         blob,
  primary key (endpoint, client, key, claimed_at)
) strict;

create index idempotency_key_claimed on idempotency_key (claimed_at);

-- Who may do what only one may do at a time; the token grows with every new owner.
create table lease (
  name       text    not null primary key,
  owner      text    not null,
  token      integer not null,
  expires_at integer not null
) strict, without rowid;

-- Items of business activities; with is_linked what a conversation says without a key, which its items have taken over.
create table activity_item (
  activity        text    not null,
  id              text    not null,
  key             text,
  conversation_id text    not null,
  started_at      integer,
  completed_at    integer,
  first_at        integer not null,
  last_at         integer not null,
  milestones      text    not null,
  data            text    not null,
  is_linked       integer not null,
  primary key (activity, id)
) strict;

create index activity_item_started on activity_item (activity, started_at desc, id desc) where not is_linked;
create index activity_item_completed on activity_item (activity, completed_at) where completed_at is not null and not is_linked;
create index activity_item_open on activity_item (activity, started_at) where completed_at is null and not is_linked;
create index activity_item_last on activity_item (last_at);

-- Which items a conversation is about.
create table activity_link (
  activity        text    not null,
  conversation_id text    not null,
  key             text    not null,
  at              integer not null,
  primary key (activity, conversation_id, key)
) strict, without rowid;

create index activity_link_at on activity_link (at);
