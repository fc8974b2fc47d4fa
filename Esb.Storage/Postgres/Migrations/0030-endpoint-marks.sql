create table endpoint_mark (
  endpoint   text        not null,
  name       text        not null,
  value      text        not null,
  changed_at timestamptz not null,
  expires_at timestamptz,
  primary key (endpoint, name)
);

create index endpoint_mark_expiry on endpoint_mark (expires_at) where expires_at is not null;

comment on table endpoint_mark is 'Small values of endpoints that survive a restart, such as the last tick of a timer.';
comment on column endpoint_mark.expires_at is 'When the row may be removed; null to keep it.';
