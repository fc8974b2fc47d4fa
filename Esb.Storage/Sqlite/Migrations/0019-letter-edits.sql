-- What replays send instead of the body of a dead letter, which stays as it came.
create table letter_edit (
  number       integer not null primary key autoincrement,
  letter_id    text    not null unique references dead_letter (id) on delete cascade,
  message_id   text    not null,
  body         blob    not null,
  content_type text,
  edited_at    integer not null,
  edited_by    text    not null,
  reason       text
) strict;
