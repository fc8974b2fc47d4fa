-- What is to be done at a time, by the clock of the database; the change that is its effect removes it.
create table timer (
  id            text not null primary key,
  kind          text not null,
  target        text not null,
  due_at        integer not null,
  claimed_until integer not null default 0,
  data          text
) strict;

create index timer_due on timer (due_at);

