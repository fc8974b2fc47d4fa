create table timer (
  id            uuid        not null primary key,
  kind          text        not null,
  target        text        not null,
  due_at        timestamptz not null,
  claimed_until timestamptz not null default '-infinity',
  data          text
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_limit = 2000);

create index timer_due on timer (due_at);

comment on table timer is 'What is to be done at a time, by the clock of the database; the change that is its effect removes it.';
comment on column timer.claimed_until is 'Until then a host works on it; afterwards another one takes it.';
