using Esb.Core.Audit;
using Esb.Storage.Evidence;
using Esb.Storage.Sql;

namespace Esb.Storage.Postgres.Audit;

/// <summary>Puts facts together that become one row: a row costs the database far more than another fact in it, for its entries in the
/// indexes above all.</summary>
/// <remarks>
/// Facts of a row have in common whatever a search asks for but kind and fields, and happen within <see cref="Longest"/>, so that a search
/// in the order of time need not look far ahead. Kinds that happen seldom have indexes of their own and stay alone. A row may have any
/// kind and field that one of its facts has; the reader of a row selects the facts.
/// </remarks>
internal static class PostgresFactGroups
{
    /// <summary>The longest time between the first and the last fact of a row.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromSeconds(1);

    /// <summary>The most facts of a row: so many are unpacked to read one of them.</summary>
    public const int MostFacts = 16;

    private const int MostBodyBytes = 64 * 1024; // of one packed body; a larger one costs more than a row

    /// <summary>The kinds of facts that may share a row: those that nearly every message has, which the index of kinds leaves
    /// out.</summary>
    public static IReadOnlyList<AuditKind> Kinds { get; } =
    [AuditKind.Received, AuditKind.Published, AuditKind.Delivered, AuditKind.Replied, AuditKind.Completed];

    /// <summary>The groups, in the order of their first facts; the facts of each in the order of their ids.</summary>
    public static IReadOnlyList<IReadOnlyList<SealedFact>> Of(IReadOnlyList<SealedFact> facts)
    {
        var groups = new List<List<SealedFact>>(facts.Count);
        var open = new Dictionary<Key, List<SealedFact>>();
        foreach (var fact in facts)
        {
            if (!IsSmall(fact) || !MayShare(fact.Fact))
            {
                groups.Add([fact]);
                continue;
            }

            var key = Key.Of(fact.Fact);
            if (open.TryGetValue(key, out var group) && TryAdd(group, fact))
                continue;
            groups.Add(open[key] = [fact]);
        }

        return groups;
    }

    /// <summary>True if a fact of this kind may share a row.</summary>
    public static bool MayShare(AuditFact fact) => Kinds.Contains(fact.Kind);

    /// <summary>A bit for each kind of the facts of a row.</summary>
    public static int KindsOf(IEnumerable<AuditFact> facts) => facts.Aggregate(0, (kinds, fact) => kinds | BitOf(fact.Kind));

    public static int BitOf(AuditKind kind) => 1 << (int)kind;

    /// <summary>The fields of all facts of a row, as the database keeps them: a name has the same value in each fact.</summary>
    public static IReadOnlyDictionary<string, string> FieldsOf(IEnumerable<AuditFact> facts)
    {
        var all = new Dictionary<string, string>();
        foreach (var (name, value) in facts.SelectMany(fact => fact.Fields))
            all[SqlText.Clean(name)] = SqlText.Clean(value);
        return all;
    }

    private static bool IsSmall(SealedFact fact) => fact.Body is null or { Bytes.Length: <= MostBodyBytes };

    private static bool TryAdd(List<SealedFact> group, SealedFact fact)
    {
        var place = group.FindLastIndex(other => other.Fact.Id.CompareTo(fact.Fact.Id) < 0) + 1;
        group.Insert(place, fact);
        if (group.Count <= MostFacts && IsShort(group) && IsInOrder(group) && AgreeInFields(group, fact))
            return true;
        group.RemoveAt(place);
        return false;
    }

    // By the clock and by the ids, which are compared by searches.
    private static bool IsShort(List<SealedFact> group) =>
        group[^1].Fact.Time - group[0].Fact.Time <= Longest
        && FactIds.TimeOf(group[0].Fact.Id) is { } first
        && FactIds.TimeOf(group[^1].Fact.Id) is { } last
        && last - first <= Longest;

    private static bool IsInOrder(List<SealedFact> group)
    {
        for (var i = 1; i < group.Count; i++)
        {
            if (group[i].Fact.Time < group[i - 1].Fact.Time)
                return false;
        }

        return true;
    }

    private static bool AgreeInFields(List<SealedFact> group, SealedFact fact)
    {
        if (fact.Fact.Fields.Count == 0)
            return true;
        var all = FieldsOf(group.Where(other => !ReferenceEquals(other, fact)).Select(other => other.Fact));
        return fact.Fact.Fields.All(field =>
            all.GetValueOrDefault(SqlText.Clean(field.Key), SqlText.Clean(field.Value)) == SqlText.Clean(field.Value)
        );
    }

    private readonly record struct Key(
        Guid Message,
        Guid Conversation,
        string? Endpoint,
        string? Process,
        string? Party,
        string? Trace,
        string? Host,
        string? Revision,
        DateOnly Day
    )
    {
        public static Key Of(AuditFact fact) =>
            new(
                fact.MessageId,
                fact.ConversationId,
                fact.Endpoint,
                fact.Process,
                fact.Party,
                fact.TraceId,
                fact.Host,
                fact.Revision,
                PostgresPartitions.DayOf(fact.Time)
            );
    }
}
