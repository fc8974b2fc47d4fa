create index dead_letter_settled on dead_letter (changed_at) where state in ('Replayed', 'Discarded');
create index dead_letter_of_job on dead_letter (job) where job is not null;

comment on index dead_letter_settled is 'For the retention of what nobody has to decide on any more.';
