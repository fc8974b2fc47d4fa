-- Hosts of different revisions share the queue of a workflow: each has to know the definitions with which the others start instances.
alter table workflow_definition add column used_at timestamptz not null default now();

comment on column workflow_definition.used_at is 'When a host last said that it starts instances with the definition.';
