-- Settings of endpoints that operators tuned; they lie over the configuration until they are reset. Values are JSON.
create table tuning (
  endpoint   text    not null,
  setting    text    not null,
  value      text    not null,
  configured text,
  changed_by text    not null,
  changed_at integer not null,
  primary key (endpoint, setting)
) strict, without rowid;
