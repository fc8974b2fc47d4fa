create table audit_event (
  id              uuid        not null,
  occurred_at     timestamptz not null,
  kind            text        not null,
  message_id      uuid        not null,
  conversation_id uuid        not null,
  endpoint        text,
  process         text,
  name            text,
  subject         text,
  attempt         integer     not null,
  duration        interval,
  code            text,
  reason          text,
  trace_id        text,
  party           text,
  fields          jsonb,
  content_type    text,
  body            bytea,
  primary key (id, occurred_at)
) partition by range (occurred_at);

create index audit_event_message on audit_event (message_id);
create index audit_event_conversation on audit_event (conversation_id);
create index audit_event_failure on audit_event (id) where kind in ('Refused', 'Failed', 'DeadLettered', 'Discarded');

comment on table audit_event is 'What happened to messages. Ids are version 7 UUIDs: they sort by time.';

-- One row for each field of an event: a search by value reads an index in the order of time and stops at its limit,
-- however many events have the value. Names and values are cut to 256 characters here; whole in audit_event.fields.
create table audit_field (
  name        text        not null,
  value       text        not null,
  event_id    uuid        not null,
  occurred_at timestamptz not null,
  primary key (name, value, event_id, occurred_at)
) partition by range (occurred_at);
