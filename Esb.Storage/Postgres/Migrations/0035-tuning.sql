create table tuning (
  endpoint   text        not null,
  setting    text        not null,
  value      text        not null,
  configured text,
  changed_by text        not null,
  changed_at timestamptz not null,
  primary key (endpoint, setting)
);

comment on table tuning is 'Settings of endpoints that operators tuned; they lie over the configuration until they are reset.';
comment on column tuning.value is 'As JSON.';
comment on column tuning.configured is 'What the configuration said at that time, as JSON; null if it said nothing.';
