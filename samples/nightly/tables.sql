create table if not exists nightly_sales (article text not null, pieces int not null, sold_on date not null);
