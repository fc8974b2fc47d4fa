create table lease (
  name       text        primary key,
  owner      text        not null,
  token      bigint      not null,
  expires_at timestamptz not null
);

comment on table lease is 'Who may do what only one host may do at a time; the token grows with every new owner.';
