create table held_line (
  line       text        not null primary key,
  step       text        not null,
  group_id   uuid,
  count      integer     not null,
  size       bigint      not null,
  expected   bigint,
  next       bigint,
  opened_at  timestamptz not null,
  changed_at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_limit = 2000);

comment on table held_line is 'A key at a step that holds messages: the open group of aggregate, or the place in the sequence of resequence.';
comment on column held_line.line is 'Hash of process, step and key.';
comment on column held_line.step is 'Process and step.';
comment on column held_line.expected is 'Number of messages that complete the group, as the last message that named one said.';
comment on column held_line.next is 'Number of the message that is next in the sequence.';

create table held_message (
  number          bigint      generated always as identity primary key,
  line            text        not null,
  step            text        not null,
  group_id        uuid,
  sequence        bigint,
  due_at          timestamptz,
  stored_at       timestamptz not null,
  endpoint        text        not null,
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

create index held_message_group on held_message (group_id, number) where group_id is not null;
create index held_message_sequence on held_message (line, sequence, number) where sequence is not null;
create index held_message_due on held_message (line, due_at, number) where due_at is not null;
create index held_message_step on held_message (step);

comment on table held_message is 'Messages that steps of processes keep: in an open group, behind a gap in a sequence, or until a time.';

create table held_inbox (
  step        text        not null,
  message_id  uuid        not null,
  received_at timestamptz not null,
  primary key (step, message_id)
);

create index held_inbox_received on held_inbox (received_at);

comment on table held_inbox is 'Messages that a step has held, by which a repetition is recognised for 7 days.';

alter table outbox add column queue text;

comment on column outbox.queue is 'The endpoint to whose queue the message is sent; null if it is published under its subject.';
