create table idempotency_key (
  endpoint     text        not null,
  client       text        not null,
  key          text        not null,
  claimed_at   timestamptz not null,
  body_hash    bytea       not null,
  token        uuid        not null,
  held_until   timestamptz not null,
  process      uuid,
  status       integer,
  content_type text,
  headers      jsonb,
  body         bytea,
  primary key (endpoint, client, key, claimed_at)
) partition by range (claimed_at);

comment on table idempotency_key is 'Requests by the keys of their senders, and what they were answered (status is null until then). An answer with a process counts in that process only.';

-- A table that is partitioned by time cannot keep a key unique over its partitions: claims of one key wait for one another here.
create function claim_idempotency_key(
  of_endpoint text, of_client text, of_key text, of_body bytea, new_token uuid, claimant uuid, lease interval, kept_for interval)
returns table (outcome text, status integer, content_type text, headers jsonb, body bytea)
language plpgsql as $$
declare
  known idempotency_key;
  moment timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended(concat_ws(E'\n', of_endpoint, of_client, of_key), 0));
  moment := clock_timestamp();
  select * into known from idempotency_key k
    where k.endpoint = of_endpoint and k.client = of_client and k.key = of_key and k.claimed_at > moment - kept_for
    order by k.claimed_at desc limit 1;

  if known.key is null then
    insert into idempotency_key (endpoint, client, key, claimed_at, body_hash, token, held_until)
      values (of_endpoint, of_client, of_key, moment, of_body, new_token, moment + lease);
    return query select 'granted', null::integer, null::text, null::jsonb, null::bytea;
  elsif known.body_hash <> of_body then
    return query select 'conflicting', null::integer, null::text, null::jsonb, null::bytea;
  elsif known.status is not null and (known.process is null or known.process = claimant) then
    return query select 'answered', known.status, known.content_type, known.headers, known.body;
  elsif known.status is null and known.held_until > moment then
    return query select 'running', null::integer, null::text, null::jsonb, null::bytea;
  else
    update idempotency_key k set token = new_token, held_until = moment + lease, process = null, status = null, content_type = null, headers = null, body = null
      where k.endpoint = of_endpoint and k.client = of_client and k.key = of_key and k.claimed_at = known.claimed_at;
    return query select 'granted', null::integer, null::text, null::jsonb, null::bytea;
  end if;
end $$;
