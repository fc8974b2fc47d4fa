create table itinerary_run (
  message_id      uuid        not null primary key,
  itinerary       text        not null,
  stop            text        not null,
  state           text        not null,
  conversation_id uuid        not null,
  code            text,
  reason          text,
  started_at      timestamptz not null,
  changed_at      timestamptz not null
) with (fillfactor = 70);

create index itinerary_run_changed on itinerary_run (changed_at) where state <> 'Waiting';

comment on table itinerary_run is 'Where messages are on itineraries with durable stops.';
