-- A key at a step that holds messages: the open group of aggregate, or the place in the sequence of resequence.
create table held_line (
  line       text not null primary key,
  step       text not null,
  group_id   text,
  count      integer not null,
  size       integer not null,
  expected   integer,
  next       integer,
  opened_at  integer not null,
  changed_at integer not null
) strict, without rowid;

-- Messages that steps of processes keep: in an open group, behind a gap in a sequence, or until a time.
create table held_message (
  number          integer primary key autoincrement,
  line            text not null,
  step            text not null,
  group_id        text,
  sequence        integer,
  due_at          integer,
  stored_at       integer not null,
  endpoint        text not null,
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

create index held_message_group on held_message (group_id, number) where group_id is not null;
create index held_message_sequence on held_message (line, sequence, number) where sequence is not null;
create index held_message_due on held_message (line, due_at, number) where due_at is not null;
create index held_message_step on held_message (step);

-- Messages that a step has held, by which a repetition is recognised for 7 days.
create table held_inbox (
  step        text not null,
  message_id  text not null,
  received_at integer not null,
  primary key (step, message_id)
) strict, without rowid;

create index held_inbox_received on held_inbox (received_at);

-- The endpoint to whose queue a message is sent; null if it is published under its subject.
alter table outbox add column queue text;
