create table activity_item (
  activity        text        not null,
  id              text        collate "C" not null,
  key             text,
  conversation_id uuid        not null,
  started_at      timestamptz,
  completed_at    timestamptz,
  first_at        timestamptz not null,
  last_at         timestamptz not null,
  milestones      jsonb       not null,
  data            jsonb       not null,
  is_linked       boolean     not null,
  primary key (activity, id)
);

create index activity_item_started on activity_item (activity, started_at desc, id desc) where not is_linked;
create index activity_item_completed on activity_item (activity, completed_at) where completed_at is not null and not is_linked;
create index activity_item_open on activity_item (activity, started_at) where completed_at is null and not is_linked;
create index activity_item_last on activity_item (last_at);

create table activity_link (
  activity        text        not null,
  conversation_id uuid        not null,
  key             text        not null,
  at              timestamptz not null,
  primary key (activity, conversation_id, key)
);

create index activity_link_at on activity_link (at);

comment on table activity_item is 'Items of business activities; with is_linked what a conversation says without a key, which its items have taken over.';
comment on table activity_link is 'Which items a conversation is about.';
