-- The last versions of the configuration. The newest accepted one is what the host runs. Content: the files as written, as compressed JSON.
create table configuration_version (
  number      integer not null primary key,
  exchange    text    not null unique,
  revision    text    not null,
  based_on    integer,
  kind        text    not null,
  changes     text    not null,
  content     blob    not null,
  made_by     text    not null,
  reason      text,
  proposed_at integer not null,
  accepted_at integer
) strict;

create index configuration_version_of on configuration_version (revision, number desc);
