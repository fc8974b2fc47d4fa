using Esb.Core.Configuration;
using Esb.Core.Replays;

namespace Esb.Host.Management.DeadLetters;

/// <summary>A replay job in API responses.</summary>
internal sealed record ReplayJobView
{
    public required Guid Id { get; init; }
    public required string Command { get; init; }
    public required ReplayState State { get; init; }
    public required DateTimeOffset CreatedAt { get; init; }
    public required string CreatedBy { get; init; }
    public string? Reason { get; init; }
    public DateTimeOffset? ChangedAt { get; init; }
    public string? ChangedBy { get; init; }
    public string? Trouble { get; init; }
    public required long Total { get; init; }
    public required long Replayed { get; init; }
    public required long Failed { get; init; }
    public IReadOnlyList<Guid>? Ids { get; init; }
    public FilterBody? Filter { get; init; }
    public int? Limit { get; init; }
    public string? Redirect { get; init; }
    public double? Rate { get; init; }
    public int? BatchSize { get; init; }
    public int? FirstBatch { get; init; }
    public string? BatchPause { get; init; }
    public double? StopAtFailureShare { get; init; }
    public bool OutOfOrder { get; init; }

    /// <summary>The id of the edited message; null if nothing was edited.</summary>
    public Guid? EditedAs { get; init; }

    public static ReplayJobView Of(ReplayJob job)
    {
        var request = job.Request;
        var hasBatches = request.BatchSize is not null;
        return new ReplayJobView
        {
            Id = job.Id,
            Command = job.Command,
            State = job.State,
            CreatedAt = job.CreatedAt,
            CreatedBy = job.CreatedBy,
            Reason = job.Reason,
            ChangedAt = job.ChangedAt,
            ChangedBy = job.ChangedBy,
            Trouble = job.Trouble,
            Total = job.Total,
            Replayed = job.Replayed,
            Failed = job.Failed,
            Ids = request.Letters.Ids,
            Filter = FilterBody.Of(request.Letters),
            Limit = request.Limit,
            Redirect = request.Redirect,
            Rate = request.Rate,
            BatchSize = request.BatchSize,
            FirstBatch = hasBatches ? request.FirstBatch : null,
            BatchPause = hasBatches ? Duration.Format(request.BatchPause) : null,
            StopAtFailureShare = request.StopAtFailureShare,
            OutOfOrder = request.OutOfOrder,
            EditedAs = job.EditedId,
        };
    }
}
