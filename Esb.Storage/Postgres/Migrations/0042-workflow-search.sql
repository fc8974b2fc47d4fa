-- For lists of instances beside any number of ended ones. The index of living instances replaces one of their definitions alone. No index
-- on what changes with every checkpoint: what has ended does not change any more, and a code comes with the end or a stop.
create index workflow_instance_open on workflow_instance (workflow, id, definition) where ended_at is null;
create index workflow_instance_over on workflow_instance (workflow, state, id) where ended_at is not null;
create index workflow_instance_code on workflow_instance (code, id) where code is not null;

drop index workflow_instance_living;
