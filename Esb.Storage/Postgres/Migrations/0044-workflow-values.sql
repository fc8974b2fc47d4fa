create table workflow_value (
  instance_id uuid  not null,
  name        text  not null,
  data        bytea not null,
  primary key (instance_id, name)
);

comment on table workflow_value is 'Large variables of instances, each stored once: snapshots refer to them by name.';
