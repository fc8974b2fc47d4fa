alter table outbox add column reply_to text;
alter table outbox add column reply_subject text;
alter table outbox add column reply_until timestamptz;

comment on column outbox.reply_to is 'Of an answer: the address of the caller who waits for it.';
comment on column outbox.reply_subject is 'Of an answer: the subject of the request; empty if it came through an endpoint.';
comment on column outbox.reply_until is 'Of a request whose reply comes to the hosts of this configuration: when it is of no use any more.';
