create table orders (id text primary key, sku text not null, taken boolean not null default false);
create table log (sku text not null);
