-- The configuration that uses the tables of this schema for what belongs to one: those of other names that share the store have a
-- schema of their own for it. Facts and bodies are everybody's.
create table store_owner (
  name     text        not null,
  since    timestamptz not null default now(),
  only_one boolean     primary key default true check (only_one)
);

comment on table store_owner is 'The name of the configuration that this schema belongs to; that of the first host since this table exists.';
