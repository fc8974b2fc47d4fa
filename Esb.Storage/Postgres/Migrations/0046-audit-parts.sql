-- Facts of one message at one endpoint that are recorded within a second may share a row: that of the last of them, but with the place of the first in its chain. What they have in common
-- is in its columns, what each has of its own in parts; their bodies follow one another in body. Rows of earlier versions stay as they are.
alter table audit_event
  add column first_id   uuid,
  add column part_kinds integer,
  add column parts      bytea;

comment on column audit_event.first_id is 'The id of the first fact of the row; null where the row is one fact.';
comment on column audit_event.part_kinds is
  'A bit for each kind of its facts, where there are several: 1 Received, 8 Published, 16 Delivered, 1024 Replied, 131072 Completed.';
comment on column audit_event.parts is 'Its facts, where there are several. The second byte is their number, the third that of the bodies.';

-- As before, and counts each body of a row.
do $migration$
begin
  execute replace(
$function$
create or replace function @.erase_audit_bodies(message uuid) returns bigint language plpgsql security definer
  set search_path = pg_catalog, pg_temp set lock_timeout = '2s' set timezone = 'UTC' as $$
declare
  recorded timestamptz;
  erased   bigint;
begin
  lock table only @.audit_event in share row exclusive mode;
  select max(occurred_at) into recorded from @.audit_event where message_id = message and kind = 'Erased';
  if recorded is null then raise exception 'no fact tells that the bodies of message % were erased', message; end if;
  insert into @.audit_erasure (message_id, happened_until)
    values (message, least(recorded + interval '1 minute', date_trunc('day', recorded) + interval '1 day' - interval '1 microsecond'))
    on conflict (message_id) do update set happened_until = excluded.happened_until;
  with emptied as (
    update @.audit_event set body = null where message_id = message and body is not null
      returning case when octet_length(parts) > 2 then get_byte(parts, 2) else 1 end as bodies)
  select coalesce(sum(bodies), 0) into erased from emptied;
  return erased;
end $$
$function$, '@.', quote_ident(current_schema()) || '.');
end $migration$;
