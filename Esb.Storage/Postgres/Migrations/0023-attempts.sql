alter table attempt
  add column attempts integer not null default 0,
  add column failures jsonb   not null default '[]',
  add column due_at   timestamptz;

comment on table attempt is 'Messages that are repeated in place, or are being sent although a process died of one of them; what has marks when a process dies is suspicious.';
comment on column attempt.attempts is 'Attempts so far of a message that is repeated in place; 0 where it only has marks.';
comment on column attempt.due_at is 'When the next attempt is due; null where nothing is to be waited for.';
