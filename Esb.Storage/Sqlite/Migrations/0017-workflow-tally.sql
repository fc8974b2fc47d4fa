-- Living instances by workflow and state: each commit adds what it changes, and the host sums the rows up.
create table workflow_tally (
  number   integer primary key autoincrement,
  workflow text    not null,
  state    text    not null,
  change   integer not null
) strict;

insert into workflow_tally (workflow, state, change)
select workflow, state, count(*) from workflow_instance where ended_at is null group by workflow, state;
