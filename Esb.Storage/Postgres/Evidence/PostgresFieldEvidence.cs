using Esb.Storage.Postgres.Audit;

namespace Esb.Storage.Postgres.Evidence;

/// <summary>Compares the search index of facts, the rows of <c>audit_field</c>, with the fields of the facts. The rows are not chained as
/// the facts are: changing them would hide a fact from searches.</summary>
internal static class PostgresFieldEvidence
{
    /// <summary>Finds the first facts of a day whose rows differ from the recorded fields. One pass over both tables, joined in
    /// whole.</summary>
    public static readonly string Find = $"""
        select flaw.fact, flaw.is_missed as IsMissed, count(*) over () as total from (
          select coalesce(has.id, found.event_id) as fact, bool_or(found.event_id is null) as is_missed
          from (
            select e.id, e.occurred_at, {Indexed("f.key")} as name, {Indexed("f.value")} as value
            from audit_event e, jsonb_each_text(case jsonb_typeof(e.fields) when 'object' then e.fields end) f
            where e.occurred_at >= @from and e.occurred_at < @to) has
          full join (select * from audit_field where occurred_at >= @from and occurred_at < @to) found
            on found.event_id = has.id and found.occurred_at = has.occurred_at and found.name = has.name and found.value = has.value
          where has.id is null or found.event_id is null
          group by coalesce(has.id, found.event_id)) flaw
        order by flaw.fact limit @limit
        """;

    // As PostgresFields.Indexed cuts it: so many UTF-16 units, where a character beyond U+FFFF, of four bytes in UTF-8, takes two.
    // Characters are counted only where that can matter.
    private static string Indexed(string text) =>
        FormattableString.Invariant(
            $"""
            case when length({text}) <= {PostgresFields.IndexedCharacters
                / 2} or octet_length({text}) = length({text}) then left({text}, {PostgresFields.IndexedCharacters})
            else (select string_agg(c, '' order by place) from (
              select c, place, sum(case octet_length(c) when 4 then 2 else 1 end) over (order by place) as units from
                string_to_table({text}, null) with ordinality as characters (c, place)) counted
              where units <= {PostgresFields.IndexedCharacters}) end
            """
        );
}
