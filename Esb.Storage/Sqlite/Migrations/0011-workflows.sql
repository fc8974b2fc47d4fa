-- Definitions of workflows with what they pin, as long as instances need them.
create table workflow_definition (
  hash       text not null primary key,
  workflow   text not null,
  content    text not null,
  created_at integer not null
) strict;

-- Instances of workflows: place and variables after their last checkpoint. The version decides between two changes.
create table workflow_instance (
  id              text not null primary key,
  workflow        text not null,
  definition      text not null,
  version         integer not null,
  state           text not null,
  step            text not null,
  snapshot        blob not null,
  keys            text not null,
  started_by      text not null,
  conversation_id text not null,
  parent          text,
  code            text,
  reason          text,
  started_at      integer not null,
  changed_at      integer not null,
  ended_at        integer
) strict;

create index workflow_instance_of on workflow_instance (workflow, id);
create index workflow_instance_stopped on workflow_instance (id) where state in ('Suspended', 'CompensationFailed');
create index workflow_instance_living on workflow_instance (definition) where ended_at is null;
create index workflow_instance_child on workflow_instance (parent) where parent is not null and ended_at is null;
create index workflow_instance_ended on workflow_instance (workflow, ended_at) where ended_at is not null;

-- History of instances: a row for each checkpoint, with all steps since the one before.
create table workflow_event (
  instance_id text not null,
  version     integer not null,
  at          integer not null,
  state       text not null,
  steps       text not null,
  primary key (instance_id, version)
) strict;

-- Business keys of instances, as hashes of workflow, names and values; kept after the end for searches.
create table workflow_key (
  hash        text not null,
  instance_id text not null,
  exclusive   integer not null,
  ended       integer not null default 0,
  primary key (hash, instance_id)
) strict;

create unique index workflow_key_exclusive on workflow_key (hash) where exclusive = 1 and ended = 0;
create index workflow_key_instance on workflow_key (instance_id);

-- What instances wait for, as hashes of workflow, subjects, names and values.
create table workflow_wait (
  instance_id text not null,
  wait        integer not null,
  hash        text not null,
  since       integer not null,
  primary key (instance_id, wait)
) strict;

create index workflow_wait_hash on workflow_wait (hash, since);

-- Messages for which no instance waits yet; a row for each wait that would take the message.
create table workflow_early (
  workflow        text not null,
  message_id      text not null,
  wait_hash       text not null,
  key_hash        text not null,
  may_start       integer not null,
  stored_at       integer not null,
  conversation_id text not null,
  subject         text not null,
  content_type    text,
  correlation_id  text,
  key             text,
  party           text,
  created_at      integer not null,
  attempt         integer not null,
  headers         text not null,
  body            blob not null,
  primary key (workflow, message_id, wait_hash)
) strict;

create index workflow_early_wait on workflow_early (wait_hash, stored_at);
create index workflow_early_key on workflow_early (key_hash);

-- Messages that had their effect, by which a repetition is recognised for 7 days.
create table workflow_inbox (
  workflow    text not null,
  message_id  text not null,
  received_at integer not null,
  primary key (workflow, message_id)
) strict;

create index workflow_inbox_received on workflow_inbox (received_at);
