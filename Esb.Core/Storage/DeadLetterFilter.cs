namespace Esb.Core.Storage;

/// <summary>Filter for dead letters; all given conditions must hold.</summary>
public sealed record DeadLetterFilter
{
    /// <summary>Ids of letters, which must match the other conditions as well.</summary>
    public IReadOnlyList<Guid>? Ids { get; init; }

    /// <summary>The endpoint that abandoned it.</summary>
    public string? Endpoint { get; init; }

    /// <summary>The code of the last failure.</summary>
    public string? Code { get; init; }

    /// <summary>The subject; with <c>.#</c> at its end, all subjects below it as well.</summary>
    public string? Subject { get; init; }

    /// <summary>The order key.</summary>
    public string? Key { get; init; }

    /// <summary>The message.</summary>
    public Guid? MessageId { get; init; }

    /// <summary>Letters last tried at or after this time.</summary>
    public DateTimeOffset? From { get; init; }

    /// <summary>Letters last tried before this time.</summary>
    public DateTimeOffset? To { get; init; }

    /// <summary>Its state.</summary>
    public DeadLetterState? State { get; init; }

    /// <summary>A text that its reason contains; case-insensitive.</summary>
    public string? Text { get; init; }

    /// <summary>The last replay job that held it.</summary>
    public Guid? Job { get; init; }
}

/// <summary>A page of dead letters.</summary>
public sealed record DeadLetterQuery
{
    /// <summary>The filter.</summary>
    public DeadLetterFilter Filter { get; init; } = new();

    /// <summary>Letters with a smaller <see cref="DeadLetterSummary.Number"/>: the key of the next page.</summary>
    public long? Before { get; init; }

    /// <summary>Maximum number of letters, from 1 to 1,000.</summary>
    public int Limit { get; init; } = 100;
}
