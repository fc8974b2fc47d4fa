create table configuration_version (
  number      bigint      not null primary key,
  exchange    uuid        not null unique,
  revision    text        not null,
  based_on    bigint,
  kind        text        not null,
  changes     text        not null,
  content     bytea       not null,
  made_by     text        not null,
  reason      text,
  proposed_at timestamptz not null,
  accepted_at timestamptz
);

create index configuration_version_of on configuration_version (revision, number desc);

comment on table configuration_version is 'The last versions of the configuration. The newest accepted one is what hosts run.';
comment on column configuration_version.accepted_at is 'Null while hosts prepare it; setting it is the decision of all hosts.';
comment on column configuration_version.content is 'The files as written, as compressed JSON; secrets stay references.';
