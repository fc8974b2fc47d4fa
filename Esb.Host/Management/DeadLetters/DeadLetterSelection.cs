using Esb.Core.Storage;

namespace Esb.Host.Management.DeadLetters;

/// <summary>The dead letters that a request selects, as JSON: some by their ids, or all that match a filter.</summary>
internal record DeadLetterSelection
{
    private const int MaxIds = 1_000;

    public IReadOnlyList<Guid>? Ids { get; init; }
    public FilterBody? Filter { get; init; }

    /// <summary>The operator's reason.</summary>
    public string? Reason { get; init; }

    /// <summary>The filter. Selecting all letters requires an empty filter, so that an omitted one never replays everything.</summary>
    public DeadLetterFilter ToFilter()
    {
        if (Ids is null && Filter is null)
            throw Problems.Parameter("ids", "expected ids or a filter; {} is a filter that every open letter passes");
        if (Ids is { Count: < 1 or > MaxIds })
            throw Problems.Parameter("ids", $"expected 1 to {MaxIds} ids; for more, a filter");
        if (Filter?.State == DeadLetterState.Replaying)
            throw Problems.Parameter("filter.state", "expected open, replayed or discarded: a job has those that are being replayed");
        return (Filter?.ToFilter() ?? new DeadLetterFilter()) with { Ids = Ids };
    }
}

/// <summary>A filter of dead letters as JSON.</summary>
internal sealed record FilterBody
{
    public string? Endpoint { get; init; }
    public string? Code { get; init; }
    public string? Subject { get; init; }
    public string? Key { get; init; }
    public Guid? MessageId { get; init; }
    public DateTimeOffset? From { get; init; }
    public DateTimeOffset? To { get; init; }
    public DeadLetterState? State { get; init; }
    public string? Text { get; init; }
    public Guid? Job { get; init; }

    public DeadLetterFilter ToFilter() =>
        new()
        {
            Endpoint = Endpoint,
            Code = Code,
            Subject = Subject,
            Key = Key,
            MessageId = MessageId,
            From = From,
            To = To,
            State = State,
            Text = Text,
            Job = Job,
        };

    public static FilterBody Of(DeadLetterFilter filter) =>
        new()
        {
            Endpoint = filter.Endpoint,
            Code = filter.Code,
            Subject = filter.Subject,
            Key = filter.Key,
            MessageId = filter.MessageId,
            From = filter.From,
            To = filter.To,
            State = filter.State,
            Text = filter.Text,
            Job = filter.Job,
        };
}
