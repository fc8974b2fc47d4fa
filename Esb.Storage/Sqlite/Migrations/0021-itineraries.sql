-- Where messages are on itineraries with durable stops.
create table itinerary_run (
  message_id      text not null primary key,
  itinerary       text not null,
  stop            text not null,
  state           text not null,
  conversation_id text not null,
  code            text,
  reason          text,
  started_at      integer not null,
  changed_at      integer not null
) strict, without rowid;

create index itinerary_run_changed on itinerary_run (changed_at) where state <> 'Waiting';
