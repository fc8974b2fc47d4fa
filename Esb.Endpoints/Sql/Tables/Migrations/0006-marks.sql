-- What a step "transaction" leaves behind with its commit, for whoever has lost the connection meanwhile. The number of a transaction does not do:
-- after a crash of the server, one of which nothing had reached the disk is given to another transaction, and pg_xact_status tells of that one.
create table esb.transaction_mark (
  id        uuid        primary key,
  marked_at timestamptz not null default now()
);

comment on table esb.transaction_mark is 'Transactions of steps "transaction" that have committed; forgotten soon after their hosts know it.';
