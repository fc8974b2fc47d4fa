-- Large variables of instances, each stored once: snapshots refer to them by name.
create table workflow_value (
  instance_id text not null,
  name        text not null,
  data        blob not null,
  primary key (instance_id, name)
) strict, without rowid;
