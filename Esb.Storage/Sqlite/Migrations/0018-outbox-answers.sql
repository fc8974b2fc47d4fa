-- reply_to, reply_subject: of an answer, the address of the caller who waits for it, and the subject of the request. reply_until: of a
-- request whose reply comes to the hosts of this configuration, when it is of no use any more.
alter table outbox add column reply_to text;
alter table outbox add column reply_subject text;
alter table outbox add column reply_until integer;
