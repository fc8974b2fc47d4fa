alter table audit_event
  add column caused_by     uuid,
  add column step          text,
  add column host          text,
  add column revision      text,
  add column headers       jsonb,
  add column body_encoding text,
  add column body_state    text,
  add column body_length   bigint,
  add column body_hash     bytea,
  alter column body set storage external;

-- Ids sort by time: a page is read from the end of an index and stops at its limit.
create index audit_event_endpoint on audit_event (endpoint, id) where endpoint is not null;
create index audit_event_process on audit_event (process, id) where process is not null;
create index audit_event_party on audit_event (party, id) where party is not null;
create index audit_event_trace on audit_event (trace_id) where trace_id is not null;

comment on column audit_event.body_encoding is 'How body is compressed: br (Brotli), or null where it is as it was. The server does not compress it again.';
