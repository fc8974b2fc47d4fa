alter table workflow_definition add column needed_at timestamptz not null default now();

comment on column workflow_definition.needed_at is 'When an instance, an interchange or a host last needed it.';
