-- A partition for each week of the inbox and each day of the outbox, in UTC, named after its first day: that of yesterday, because of
-- transactions that began then, of today, and of the days ahead. Weeks, because each message is looked up in every partition of the window:
-- two or three cost half of what eight days do.
create function esb.make_partitions() returns void language plpgsql as $$
declare
  parent record;
  first  date;
  name   text;
begin
  for parent in select * from (values ('endpoint_inbox', 'week'), ('transaction_outbox', 'day')) as kept (name, span) loop
    for first in select distinct date_trunc(parent.span, now() at time zone 'UTC' + n * interval '1 day')::date from generate_series(-1, 3) as n loop
      name := format('%s_%s', parent.name, to_char(first, 'YYYYMMDD'));
      if to_regclass(format('esb.%I', name)) is null then
        execute format('create table esb.%I partition of esb.%I for values from (%L) to (%L)',
          name, parent.name, format('%s 00:00+00', first), format('%s 00:00+00', (first + ('1 ' || parent.span)::interval)::date));
      end if;
    end loop;
  end loop;
end $$;

-- Retention drops whole partitions: of the inbox those that ended before the window; of the outbox those that ended a day ago and in which nothing waits.
create function esb.drop_partitions() returns void language plpgsql as $$
declare
  part    record;
  first   date;
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
    first := to_date(right(part.name, 8), 'YYYYMMDD');
    if part.parent = 'endpoint_inbox' then
      is_free := first + 7 <= (now() - interval '7 days') at time zone 'UTC';
    else
      is_free := first + 1 <= (now() - interval '1 day') at time zone 'UTC';
      if is_free then
        execute format('select not exists (select from esb.%I)', part.name) into is_free;
      end if;
    end if;
    if is_free then
      execute format('drop table esb.%I', part.name);
    end if;
  end loop;
end $$;
