create table stock (article text not null primary key, free integer not null, reserved integer not null default 0);
create table reservations (order_id text not null, what text not null, noted_at timestamptz not null default now());
insert into stock (article, free) values ('lamp', 100);
