-- When an instance, an interchange or a host last needed the definition.
alter table workflow_definition add column needed_at integer not null default 0;
update workflow_definition set needed_at = now();
