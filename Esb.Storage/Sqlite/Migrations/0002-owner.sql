-- The configuration whose database this is; one of another name that uses the folder has a database of its own.
create table store_owner (
  name     text    not null,
  only_one integer not null primary key check (only_one = 1)
) strict, without rowid;
