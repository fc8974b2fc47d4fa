using System.Text.Json;
using Esb.Storage.Activities;

namespace Esb.Storage.Postgres.Activities;

/// <summary>A row of <c>activity_item</c>.</summary>
internal sealed record PostgresActivityRow
{
    public string Activity { get; init; } = "";

    public string Id { get; init; } = "";

    public string? Key { get; init; }

    public Guid ConversationId { get; init; }

    public DateTime? StartedAt { get; init; }

    public DateTime? CompletedAt { get; init; }

    public DateTime FirstAt { get; init; }

    public DateTime LastAt { get; init; }

    public string Milestones { get; init; } = "{}";

    public string Data { get; init; } = "{}";

    public bool IsLinked { get; init; }

    public ActivityRow ToRow() => new(Activity, Id, Key, ConversationId)
    {
        StartedAt = StartedAt is { } started ? new DateTimeOffset(started) : null,
        CompletedAt = CompletedAt is { } completed ? new DateTimeOffset(completed) : null,
        FirstAt = new DateTimeOffset(FirstAt),
        LastAt = new DateTimeOffset(LastAt),
        Milestones = JsonSerializer.Deserialize(Milestones, StorageJson.Default.DictionaryStringDateTimeOffset)!,
        Data = JsonSerializer.Deserialize(Data, StorageJson.Default.DictionaryStringActivityDatum)!,
        IsLinked = IsLinked,
    };
}
