-- Signs what hosts tell one another over the broker, where the configuration names no key of its own.
create table farm_key (
  key      bytea       not null,
  since    timestamptz not null default now(),
  only_one boolean     primary key default true check (only_one)
);

comment on table farm_key is 'The key with which the hosts of this store sign messages to one another (farm.key where that is not configured).';
