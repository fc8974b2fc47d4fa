using Esb.Core.Storage;

namespace Esb.Host.Management.DeadLetters;

/// <summary>Which dead letters a request means, as JSON: some by their ids, or all that a filter names.</summary>
internal record DeadLetterSelection
{
    private const int MaxIds = 1_000;

    public IReadOnlyList<Guid>? Ids { get; init; }
    public FilterBody? Filter { get; init; }

    /// <summary>Why, in the operator's words.</summary>
    public string? Reason { get; init; }

    /// <summary>The filter. All letters have to be asked for with an empty one: nobody replays everything by leaving something out.</summary>
    public DeadLetterFilter ToFilter()
    {
        if (Ids is null && Filter is null) throw Problems.Parameter("ids", "expected ids or a filter; {} is a filter that every open letter passes");
        if (Ids is { Count: < 1 or > MaxIds }) throw Problems.Parameter("ids", $"expected 1 to {MaxIds} ids; for more, a filter");
        if (Filter?.State == DeadLetterState.Replaying) throw Problems.Parameter("filter.state", "expected open, replayed or discarded: a job has those that are being replayed");
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

    public DeadLetterFilter ToFilter() => new()
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

    public static FilterBody Of(DeadLetterFilter filter) => new()
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
