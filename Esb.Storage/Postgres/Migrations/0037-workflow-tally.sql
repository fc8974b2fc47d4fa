create table workflow_tally (
  number   bigint  generated always as identity primary key,
  workflow text    not null,
  state    text    not null,
  change   integer not null
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_limit = 2000);

insert into workflow_tally (workflow, state, change)
select workflow, state, count(*) from workflow_instance where ended_at is null group by workflow, state;

comment on table workflow_tally is 'Living instances by workflow and state: each commit adds what it changes, and hosts sum the rows up.';
