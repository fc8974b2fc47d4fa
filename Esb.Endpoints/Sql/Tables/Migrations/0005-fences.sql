-- The largest fencing token that endpoints with "singleInstance" have shown here: a host that lost its lease without knowing it has no effect any more.
create table esb.endpoint_fence (
  bus       text        not null,
  endpoint  text        not null,
  token     bigint      not null,
  raised_at timestamptz not null default clock_timestamp(),
  primary key (bus, endpoint)
);

comment on table esb.endpoint_fence is 'The lease under which each endpoint with "singleInstance" writes; smaller tokens are refused.';

-- Shows the token of a new lease. Waits for the transactions that were let pass under an older one; none is let pass afterwards.
create function esb.raise_fence(fenced_bus text, fenced_endpoint text, shown bigint) returns void language plpgsql as $$
declare
  largest bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended(fenced_endpoint, hashtextextended(fenced_bus, 1)));
  insert into esb.endpoint_fence (bus, endpoint, token) values (fenced_bus, fenced_endpoint, shown)
    on conflict (bus, endpoint) do update set token = excluded.token, raised_at = excluded.raised_at
    where endpoint_fence.token < excluded.token;
  select token into largest from esb.endpoint_fence where bus = fenced_bus and endpoint = fenced_endpoint;
  if largest > shown then
    raise exception 'the token % of % is older than %', shown, fenced_endpoint, largest using errcode = 'ESB04';
  end if;
end $$;

-- Lets the transaction of an effect pass, or refuses it with ESB04. It comes last, so that a host which stands still in the middle of its
-- command holds up nobody; and it needs a snapshot taken after the wait, as read committed takes it.
create function esb.pass_fence(fenced_bus text, fenced_endpoint text, shown bigint) returns void language plpgsql as $$
declare
  largest bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'singleInstance needs the isolation level read committed' using errcode = 'ESB03';
  end if;
  perform pg_advisory_xact_lock_shared(hashtextextended(fenced_endpoint, hashtextextended(fenced_bus, 1)));
  select token into largest from esb.endpoint_fence where bus = fenced_bus and endpoint = fenced_endpoint;
  if largest is distinct from shown then
    perform esb.raise_fence(fenced_bus, fenced_endpoint, shown); -- the table was made anew since the lease was taken, or the token is old
  end if;
end $$;
