-- An entry of an index has room for 2,700 bytes; a key may be longer, and its letter must be kept all the same.
drop index dead_letter_key;
create index dead_letter_key on dead_letter (left(key, 256), number) where key is not null;
