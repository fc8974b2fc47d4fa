-- What a scope of a workflow with "transaction" left with its commit, by instance, step and visit: a crash before the checkpoint finds it
-- here, in place of running the steps a second time.
create table esb.transaction_result (
  id      uuid        primary key,
  result  bytea       not null,
  kept_at timestamptz not null default now()
);

comment on table esb.transaction_result is 'Results of scopes of workflows with "transaction", kept for 7 days.';

create index transaction_result_kept on esb.transaction_result (kept_at);
