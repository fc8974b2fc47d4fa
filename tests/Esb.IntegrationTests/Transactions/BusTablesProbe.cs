using Esb.IntegrationTests.Sql;

namespace Esb.IntegrationTests.Transactions;

/// <summary>Looks into our own tables, and lets days pass in them.</summary>
internal static class BusTablesProbe
{
    /// <summary>Makes it that a message was applied longer ago.</summary>
    public static Task AgeAsync(Shop shop, Guid messageId, string age) =>
        shop.ExecuteAsync(
            $"""
            {MakePartition("endpoint_inbox", age)}
            update esb.endpoint_inbox set applied_at = applied_at - interval '{age}' where message_id = '{messageId}';
            """
        );

    /// <summary>The partition of a day in the past, as it would be there.</summary>
    public static string MakePartition(string table, string age)
    {
        var span = table == "endpoint_inbox" ? "week" : "day";
        return $"""
            do $$ declare first date := date_trunc('{span}', (now() - interval '{age}') at time zone 'UTC')::date; begin
              execute format('create table if not exists esb.%I partition of esb.{table} for values from (%L) to (%L)',
                '{table}_' || to_char(first, 'YYYYMMDD'), first::text || ' 00:00+00', (first + interval '1 {span}')::date::text || ' 00:00+00');
            end $$;
            """;
    }
}
