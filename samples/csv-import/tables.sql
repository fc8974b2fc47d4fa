create table if not exists imported_orders (number text primary key, sku text not null, qty int not null, price numeric(12, 2) not null, day date);
