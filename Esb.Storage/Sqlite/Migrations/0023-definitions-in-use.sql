-- When a host last said that it starts instances with the definition.
alter table workflow_definition add column used_at integer not null default 0;
