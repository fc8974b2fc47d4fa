create table audit_erasure (
  message_id     uuid        not null primary key,
  happened_until timestamptz not null
);

comment on table audit_erasure is 'Messages whose bodies were erased: what arrives of them later, but happened before, comes in without its body. Kept as long as the fact that tells of it.';
comment on column audit_erasure.happened_until is 'When that fact happened, and a minute more for the clocks of other hosts; on the same day, so that no body is gone for longer than the fact tells why.';

-- Erases what is there, and has what comes later erased as it comes. The lock waits for those who insert now, and makes the next ones wait until they can see the erasure: no body slips in between.
-- A role that may only insert and select calls this too; it runs as the owner of the tables.
create function erase_audit_bodies(message uuid) returns bigint language plpgsql security definer set search_path from current set lock_timeout = '2s' set timezone = 'UTC' as $$
declare
  recorded timestamptz;
  erased   bigint;
begin
  lock table only audit_event in share row exclusive mode;
  select max(occurred_at) into recorded from audit_event where message_id = message and kind = 'Erased';
  if recorded is null then raise exception 'no fact tells that the bodies of message % were erased', message; end if;
  insert into audit_erasure (message_id, happened_until)
    values (message, least(recorded + interval '1 minute', date_trunc('day', recorded) + interval '1 day' - interval '1 microsecond'))
    on conflict (message_id) do update set happened_until = excluded.happened_until;
  update audit_event set body = null where message_id = message and body is not null;
  get diagnostics erased = row_count;
  return erased;
end $$;

revoke all on function erase_audit_bodies(uuid) from public;
