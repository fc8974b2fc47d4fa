create table workflow_definition (
  hash       text        not null primary key,
  workflow   text        not null,
  content    text        not null,
  created_at timestamptz not null default now()
);

comment on table workflow_definition is 'Definitions of workflows with what they pin, as long as instances need them.';

-- No index on what changes with every checkpoint, so that updates stay on their page.
create table workflow_instance (
  id              uuid        not null primary key,
  workflow        text        not null,
  definition      text        not null,
  version         integer     not null,
  state           text        not null,
  step            text        not null,
  snapshot        bytea       not null,
  keys            text        not null,
  started_by      uuid        not null,
  conversation_id uuid        not null,
  parent          uuid,
  code            text,
  reason          text,
  started_at      timestamptz not null default now(),
  changed_at      timestamptz not null default now(),
  ended_at        timestamptz
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_limit = 2000);

create index workflow_instance_of on workflow_instance (workflow, id);
create index workflow_instance_stopped on workflow_instance (id) where state in ('Suspended', 'CompensationFailed');
create index workflow_instance_living on workflow_instance (definition) where ended_at is null;
create index workflow_instance_child on workflow_instance (parent) where parent is not null and ended_at is null;
create index workflow_instance_ended on workflow_instance (workflow, ended_at) where ended_at is not null;

comment on table workflow_instance is 'Instances of workflows: place and variables after their last checkpoint. The version decides between two changes.';

create table workflow_event (
  instance_id uuid        not null,
  version     integer     not null,
  at          timestamptz not null default now(),
  state       text        not null,
  steps       jsonb       not null,
  primary key (instance_id, version)
);

comment on table workflow_event is 'History of instances: a row for each checkpoint, with all steps since the one before.';

create table workflow_key (
  hash        text    not null,
  instance_id uuid    not null,
  exclusive   boolean not null,
  ended       boolean not null default false,
  primary key (hash, instance_id)
);

create unique index workflow_key_exclusive on workflow_key (hash) where exclusive and not ended;
create index workflow_key_instance on workflow_key (instance_id);

comment on table workflow_key is 'Business keys of instances, as hashes of workflow, names and values; kept after the end for searches.';

create table workflow_wait (
  instance_id uuid        not null,
  wait        integer     not null,
  hash        text        not null,
  since       timestamptz not null default now(),
  primary key (instance_id, wait)
);

create index workflow_wait_hash on workflow_wait (hash, since);

comment on table workflow_wait is 'What instances wait for, as hashes of workflow, subjects, names and values.';

create table workflow_early (
  workflow        text        not null,
  message_id      uuid        not null,
  wait_hash       text        not null,
  key_hash        text        not null,
  may_start       boolean     not null,
  stored_at       timestamptz not null default now(),
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
  primary key (workflow, message_id, wait_hash)
);

create index workflow_early_wait on workflow_early (wait_hash, stored_at);
create index workflow_early_key on workflow_early (key_hash);

comment on table workflow_early is 'Messages for which no instance waits yet; a row for each wait that would take the message.';

create table workflow_inbox (
  workflow    text        not null,
  message_id  uuid        not null,
  received_at timestamptz not null default now(),
  primary key (workflow, message_id)
);

create index workflow_inbox_received on workflow_inbox (received_at);

comment on table workflow_inbox is 'Messages that had their effect, by which a repetition is recognised for 7 days.';
