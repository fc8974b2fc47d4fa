-- Which endpoint has applied which message. The window is seven days of the database's own clock.
create table esb.endpoint_inbox (
  message_id uuid        not null,
  endpoint   text        not null,
  applied_at timestamptz not null default now(),
  body_hash  bytea       not null,
  primary key (message_id, endpoint, applied_at)
) partition by range (applied_at);

comment on table esb.endpoint_inbox is 'Messages that endpoints with "once" have applied, each in the transaction of its effect.';

-- Records a message as applied, or refuses it: ESB01 it was applied before, ESB02 it was applied before with another body.
-- A key of a partitioned table holds within one partition only. So copies of a message wait for one another, and each looks
-- through the partitions of the whole window; that needs a snapshot taken after the wait, as read committed takes it.
create function esb.claim_message(claimed_endpoint text, claimed_message uuid, claimed_hash bytea) returns void language plpgsql as $$
declare
  earlier record;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'once needs the isolation level read committed' using errcode = 'ESB03';
  end if;
  perform pg_advisory_xact_lock(hashtextextended(claimed_endpoint, hashtextextended(claimed_message::text, 0)));
  insert into esb.endpoint_inbox (message_id, endpoint, body_hash)
    select claimed_message, claimed_endpoint, claimed_hash
    where not exists (
      select from esb.endpoint_inbox
      where message_id = claimed_message and endpoint = claimed_endpoint
        and applied_at between now() - interval '7 days' and now() + interval '1 day'); -- the end lets partitions ahead be passed over
  if found then
    return;
  end if;
  select applied_at, body_hash into earlier
    from esb.endpoint_inbox
    where message_id = claimed_message and endpoint = claimed_endpoint
    order by applied_at desc
    limit 1;
  raise exception 'message % was applied by % before', claimed_message, claimed_endpoint using
    errcode = case when earlier.body_hash = claimed_hash then 'ESB01' else 'ESB02' end,
    detail = to_char(earlier.applied_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end $$;
