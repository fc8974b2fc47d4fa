create table letter_edit (
  letter_id    uuid        not null primary key references dead_letter (id) on delete cascade,
  number       bigint      not null generated always as identity unique,
  message_id   uuid        not null,
  body         bytea       not null,
  content_type text,
  edited_at    timestamptz not null,
  edited_by    text        not null,
  reason       text
);

alter table letter_edit alter column body set storage external;

comment on table letter_edit is 'What replays send instead of the body of a dead letter, which stays as it came.';
comment on column letter_edit.message_id is 'Under which it is sent; another one for each edit.';
