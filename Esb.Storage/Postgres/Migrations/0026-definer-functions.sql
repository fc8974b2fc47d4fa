-- Functions that run as the owner of the tables look names up in pg_catalog alone, and name everything else in full: a role that may
-- create functions or temporary tables could otherwise put its own in their place. Days of requests' keys and of claim checks are made
-- and dropped by such functions, too: a host's role needs no right to create anything.
do $migration$
declare
  definition text;
  home       text := quote_ident(current_schema()) || '.';
begin
  foreach definition in array array[
$function$
create or replace function @.make_audit_day(day date) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  suffix text := to_char(day::timestamp, 'YYYYMMDD');
  first  text := to_char(day::timestamp, 'YYYY-MM-DD') || ' 00:00+00';
  next   text := to_char((day + 1)::timestamp, 'YYYY-MM-DD') || ' 00:00+00';
begin
  execute format('create table if not exists @.audit_event_%s partition of @.audit_event for values from (%L) to (%L)', suffix, first, next);
  execute format('create unique index if not exists audit_event_%s_chain on @.audit_event_%s (chain, number)', suffix, suffix);
  execute format('create table if not exists @.audit_field_%s partition of @.audit_field for values from (%L) to (%L)', suffix, first, next);
end $$
$function$,
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
  update @.audit_event set body = null where message_id = message and body is not null;
  get diagnostics erased = row_count;
  return erased;
end $$
$function$,
$function$
create function @.make_store_day(of_table text, day date) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if of_table not in ('claim_check', 'idempotency_key') then raise exception 'no table of days that a host makes: %', of_table; end if;
  execute format(
    'create table if not exists @.%I partition of @.%I for values from (%L) to (%L)', of_table || '_' || to_char(day::timestamp, 'YYYYMMDD'), of_table,
    to_char(day::timestamp, 'YYYY-MM-DD') || ' 00:00+00', to_char((day + 1)::timestamp, 'YYYY-MM-DD') || ' 00:00+00');
end $$
$function$,
$function$
create function @.drop_store_day(of_table text, day date) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if of_table not in ('claim_check', 'idempotency_key') then raise exception 'no table of days that a host drops: %', of_table; end if;
  execute format('drop table if exists @.%I', of_table || '_' || to_char(day::timestamp, 'YYYYMMDD'));
end $$
$function$,
    'revoke all on function @.make_store_day(text, date), @.drop_store_day(text, date) from public'
  ] loop
    execute replace(definition, '@.', home);
  end loop;
end $migration$;
