-- Small values of endpoints that survive a restart, such as the last tick of a timer; expires_at null to keep the row.
create table endpoint_mark (
  endpoint   text    not null,
  name       text    not null,
  value      text    not null,
  changed_at integer not null,
  expires_at integer,
  primary key (endpoint, name)
) strict, without rowid;

create index endpoint_mark_expiry on endpoint_mark (expires_at) where expires_at is not null;
