alter table audit_event
  add column body_digest bytea,
  add column chain       uuid,
  add column number      bigint,
  add column link        bytea;

comment on column audit_event.body_digest is 'SHA-256 of the body as it is recorded. Where it is there and the body is not, that was erased on request.';
comment on column audit_event.chain is 'The writer: one run of a host. Its facts of a day are numbered from 1.';
comment on column audit_event.link is 'SHA-256 over the link before (of the first: over chain and day), the number and the digest of the other columns.';

-- The day of both tables, with what each day has of its own: a number is given once, which a key of the whole table cannot say.
-- A role that may only insert and select calls this too; it runs as the owner of the tables.
create function make_audit_day(day date) returns void language plpgsql security definer set search_path from current as $$
declare
  suffix text := to_char(day, 'YYYYMMDD');
  first  text := to_char(day, 'YYYY-MM-DD') || ' 00:00+00';
  next   text := to_char(day + 1, 'YYYY-MM-DD') || ' 00:00+00';
begin
  execute format('create table if not exists audit_event_%s partition of audit_event for values from (%L) to (%L)', suffix, first, next);
  execute format('create unique index if not exists audit_event_%s_chain on audit_event_%s (chain, number)', suffix, suffix);
  execute format('create table if not exists audit_field_%s partition of audit_field for values from (%L) to (%L)', suffix, first, next);
end $$;

revoke all on function make_audit_day(date) from public;

do $$
declare
  partition text;
begin
  for partition in select child.relname from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = 'audit_event'::regclass loop
    execute format('create unique index %I on %I (chain, number)', partition || '_chain', partition);
  end loop;
end $$;
