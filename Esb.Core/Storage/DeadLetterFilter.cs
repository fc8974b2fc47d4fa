namespace Esb.Core.Storage;

/// <summary>Which dead letters; everything that is given must hold.</summary>
public sealed record DeadLetterFilter
{
    /// <summary>These, as far as the rest holds.</summary>
    public IReadOnlyList<Guid>? Ids { get; init; }

    /// <summary>The endpoint that gave it up.</summary>
    public string? Endpoint { get; init; }

    /// <summary>The code of the last failure.</summary>
    public string? Code { get; init; }

    /// <summary>The subject; with <c>.#</c> at its end also all below it.</summary>
    public string? Subject { get; init; }

    /// <summary>The order key.</summary>
    public string? Key { get; init; }

    /// <summary>The message.</summary>
    public Guid? MessageId { get; init; }

    /// <summary>Last tried not before.</summary>
    public DateTimeOffset? From { get; init; }

    /// <summary>Last tried before.</summary>
    public DateTimeOffset? To { get; init; }

    /// <summary>What has become of it.</summary>
    public DeadLetterState? State { get; init; }

    /// <summary>A text that its reason contains; case does not matter.</summary>
    public string? Text { get; init; }

    /// <summary>The replay job that had it last.</summary>
    public Guid? Job { get; init; }
}

/// <summary>A page of dead letters.</summary>
public sealed record DeadLetterQuery
{
    /// <summary>Which.</summary>
    public DeadLetterFilter Filter { get; init; } = new();

    /// <summary>Those with a smaller <see cref="DeadLetterSummary.Number"/>: the key of the next page.</summary>
    public long? Before { get; init; }

    /// <summary>How many at most, from 1 to 1,000.</summary>
    public int Limit { get; init; } = 100;
}
