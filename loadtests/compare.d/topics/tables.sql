create table customers (id int primary key generated always as identity, name text not null, country text not null);
insert into customers (name, country)
select 'customer ' || n, (array['Germany', 'France', 'Spain'])[1 + n % 3] from generate_series(1, 60) n;

-- Where orders arrive: in which order, and when.
create table orders_in (
  n bigint generated always as identity,
  message_id uuid primary key default gen_random_uuid(),
  body text not null,
  received_at timestamptz not null default clock_timestamp()
);

-- The same for pgbench.
create table orders_of_pgbench (like orders_in including all);

-- What workflows note down.
create table notes (order_id text not null);

-- Where the records of interchanges arrive.
create table records (number bigint primary key, body text not null);
