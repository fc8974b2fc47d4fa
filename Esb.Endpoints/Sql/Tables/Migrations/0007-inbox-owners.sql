-- Two configurations may have endpoints of one name. The marks with the bare name are those of the configuration that first used it
-- since this table exists; an endpoint of any other one is recorded as "configuration/endpoint".
create table esb.inbox_owner (
  endpoint text primary key,
  bus      text not null
);

comment on table esb.inbox_owner is 'The configurations whose endpoints with "once" stand in endpoint_inbox by their bare names.';

create function esb.claim_message(claimed_bus text, claimed_endpoint text, claimed_message uuid, claimed_hash bytea) returns void language plpgsql as $$
declare
  owner text;
begin
  select bus into owner from esb.inbox_owner where endpoint = claimed_endpoint;
  if not found then
    insert into esb.inbox_owner (endpoint, bus) values (claimed_endpoint, claimed_bus) on conflict do nothing;
    select bus into owner from esb.inbox_owner where endpoint = claimed_endpoint;
  end if;
  perform esb.claim_message(
    case when owner = claimed_bus then claimed_endpoint else claimed_bus || '/' || claimed_endpoint end, claimed_message, claimed_hash);
end $$;
