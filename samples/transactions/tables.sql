create table if not exists placed_orders (message_id uuid primary key, customer text not null, amount numeric(12, 2) not null);
create table if not exists accounts (customer text primary key, owed numeric(12, 2) not null default 0);
insert into accounts (customer) values ('ada'), ('grace') on conflict do nothing;
