using Dapper;
using Esb.Storage.Evidence;
using Esb.Storage.Postgres.Audit;
using Npgsql;

namespace Esb.Storage.Postgres.Evidence;

/// <summary>The chains of this process, one for each day: assigns facts their places, in commit order. One caller at a time.</summary>
/// <remarks>
/// A new process begins new chains, so that no other process writes to them, whatever the hosts are called. After a commit with an unknown
/// outcome, the heads are read again; if it arrives even later, the key of the numbers admits only one of the two: a row has the number of
/// its first fact, so both begin with the same. If the day was dropped
/// meanwhile, another chain begins: an archive has the numbers of the previous one.
/// </remarks>
internal sealed class PostgresChain(NpgsqlDataSource database, AnchorLog? anchors)
{
    private readonly Guid _chain = Guid.CreateVersion7();
    private readonly Dictionary<DateOnly, Guid> _renewed = [];
    private readonly HashSet<DateOnly> _begun = [];
    private readonly Dictionary<DateOnly, ChainHead> _heads = [];
    private bool _isCertain = true;

    /// <summary>Assigns each fact the next place of its day. Takes effect with <see cref="Accept"/>.</summary>
    public async Task<IReadOnlyList<ChainedFact>> ExtendAsync(IReadOnlyList<SealedFact> facts, CancellationToken cancellationToken)
    {
        var heads = new Dictionary<DateOnly, ChainHead>();
        var chained = new List<ChainedFact>(facts.Count);
        foreach (var fact in facts)
        {
            var day = PostgresPartitions.DayOf(fact.Fact.Time);
            var head = heads.GetValueOrDefault(day) ?? await HeadOfAsync(day, cancellationToken);
            heads[day] = head = head.Next(fact.Digest);
            chained.Add(new ChainedFact(fact, ChainOf(day), head));
        }

        return chained;
    }

    /// <summary>Advances the heads after the facts were committed.</summary>
    public void Accept(IReadOnlyList<ChainedFact> facts)
    {
        foreach (var day in facts.GroupBy(fact => PostgresPartitions.DayOf(fact.Sealed.Fact.Time)))
        {
            var head = day.Last().Head!;
            _heads[day.Key] = head;
            _begun.Add(day.Key);
            anchors?.Note(ChainOf(day.Key), day.Key, head, day.Count());
        }
    }

    /// <summary>Discards the known heads, which may be outdated.</summary>
    public void Forget()
    {
        _heads.Clear();
        _isCertain = false;
    }

    private Guid ChainOf(DateOnly day) => _renewed.GetValueOrDefault(day, _chain);

    private async Task<ChainHead> HeadOfAsync(DateOnly day, CancellationToken cancellationToken)
    {
        if (_heads.TryGetValue(day, out var known))
            return known;
        if (_isCertain)
            return ChainHead.Start(ChainOf(day), day);
        await using var connection = await database.OpenConnectionAsync(cancellationToken);
        var head = await connection.QuerySingleOrDefaultAsync<(long Number, byte[] Link)?>(
            new CommandDefinition(
                $"select number + {PostgresParts.Count} - 1, link from audit_event where chain = @chain and occurred_at >= @from and "
                    + "occurred_at < @to order by number desc limit 1",
                new
                {
                    chain = ChainOf(day),
                    from = PostgresPartitions.StartOf(day),
                    to = PostgresPartitions.StartOf(day.AddDays(1)),
                },
                cancellationToken: cancellationToken
            )
        );
        if (head is { } found)
            return _heads[day] = new ChainHead(found.Number, found.Link);
        if (_begun.Remove(day))
            _renewed[day] = Guid.CreateVersion7();
        return _heads[day] = ChainHead.Start(ChainOf(day), day);
    }
}
