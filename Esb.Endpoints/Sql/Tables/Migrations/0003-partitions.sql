-- A partition for each day, in UTC: yesterday, because of transactions that began then, today, and some days ahead.
create function esb.make_partitions() returns void language plpgsql as $$
declare
  parent text;
  day    date;
  name   text;
begin
  foreach parent in array array['endpoint_inbox', 'transaction_outbox'] loop
    for day in select (now() at time zone 'UTC')::date + n from generate_series(-1, 3) n loop
      name := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
      if to_regclass(format('esb.%I', name)) is null then
        execute format('create table esb.%I partition of esb.%I for values from (%L) to (%L)', name, parent, format('%s 00:00+00', day), format('%s 00:00+00', day + 1));
      end if;
    end loop;
  end loop;
end $$;

-- Retention drops whole days: of the inbox those that ended before the window; of the outbox those in which nothing waits any more.
create function esb.drop_partitions() returns void language plpgsql as $$
declare
  part    record;
  is_free boolean;
begin
  for part in
    select parent.relname as parent, child.relname as name
      from pg_inherits
      join pg_class parent on parent.oid = inhparent
      join pg_class child on child.oid = inhrelid
      where inhparent in ('esb.endpoint_inbox'::regclass, 'esb.transaction_outbox'::regclass)
      order by name
  loop
    continue when to_date(right(part.name, 8), 'YYYYMMDD') + 1 >= (now() - interval '7 days') at time zone 'UTC';
    is_free := true;
    if part.parent = 'transaction_outbox' then
      execute format('select not exists (select from esb.%I)', part.name) into is_free;
    end if;
    if is_free then
      execute format('drop table esb.%I', part.name);
    end if;
  end loop;
end $$;
