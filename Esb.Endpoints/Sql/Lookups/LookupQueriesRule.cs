using Esb.Configuration.Compiling;
using Esb.Content.Lookups;
using Esb.Core.Configuration;

namespace Esb.Endpoints.Sql.Lookups;

/// <summary>Checks the queries of look-ups.</summary>
internal sealed class LookupQueriesRule(IReadOnlyDictionary<string, LookupConfig> lookups) : IConfigurationRule
{
    public void Check(ConfigErrors errors)
    {
        foreach (var lookup in lookups.Values.Where(lookup => lookup is { Query: not null } && lookup.IsSound("query")))
        {
            var text = SqlText.Parse(lookup.Query!);
            if (text.DynamicPart is { } part)
                errors.Add("ESB-SQL-DYNAMIC", lookup, "query", $"{part} would put a message's content into the command; expected @key");
            foreach (var name in text.Identifiers)
                errors.Add(
                    "ESB-SQL-IDENT",
                    lookup,
                    "query",
                    $"@{name} stands for a table, which a value of a message never names; expected its name"
                );
            if (!text.Parameters.SequenceEqual(["key"]))
                errors.Add("ESB-SQL-PARAM", lookup, "query", "expected @key, and no other parameter");
            if (text.Statements.Count > 1 || text.TransactionPart is not null)
                errors.Add("ESB-CFG-VALUE", lookup, "query", "expected one query");
        }
    }
}
