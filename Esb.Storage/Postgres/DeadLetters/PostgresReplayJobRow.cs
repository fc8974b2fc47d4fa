using System.Text.Json;
using Esb.Core.Replays;

namespace Esb.Storage.Postgres.DeadLetters;

/// <summary>A row of <c>replay_job</c>.</summary>
internal sealed record PostgresReplayJobRow
{
    public const string Columns =
        """
        job.id, job.command, job.fingerprint, job.request, job.state, job.created_at as CreatedAt, job.created_by as CreatedBy, job.reason, job.changed_at as ChangedAt, job.changed_by as ChangedBy,
        job.trouble, job.total, job.replayed, job.failed, job.replayed_before as ReplayedBefore, job.failed_before as FailedBefore
        """;

    public Guid Id { get; init; }

    public string Command { get; init; } = "";

    public string Fingerprint { get; init; } = "";

    public string Request { get; init; } = "";

    public string State { get; init; } = "";

    public DateTime CreatedAt { get; init; }

    public string CreatedBy { get; init; } = "";

    public string? Reason { get; init; }

    public DateTime? ChangedAt { get; init; }

    public string? ChangedBy { get; init; }

    public string? Trouble { get; init; }

    public long Total { get; init; }

    public long Replayed { get; init; }

    public long Failed { get; init; }

    public long ReplayedBefore { get; init; }

    public long FailedBefore { get; init; }

    public static object Parameters(ReplayJob job) => new
    {
        job.Id,
        Command = PostgresText.Clean(job.Command),
        job.Fingerprint,
        Request = JsonSerializer.Serialize(job.Request, StorageJson.Default.ReplayRequest).Replace("\\u0000", "\\uFFFD", StringComparison.Ordinal),
        State = job.State.ToString(),
        CreatedAt = job.CreatedAt.UtcDateTime,
        CreatedBy = PostgresText.Clean(job.CreatedBy),
        Reason = PostgresText.Clean(job.Reason),
    };

    public ReplayJob ToJob() => new()
    {
        Id = Id,
        Command = Command,
        Fingerprint = Fingerprint,
        Request = JsonSerializer.Deserialize(Request, StorageJson.Default.ReplayRequest)!,
        State = Enum.Parse<ReplayState>(State),
        CreatedAt = new DateTimeOffset(CreatedAt),
        CreatedBy = CreatedBy,
        Reason = Reason,
        ChangedAt = ChangedAt is { } changed ? new DateTimeOffset(changed) : null,
        ChangedBy = ChangedBy,
        Trouble = Trouble,
        Total = Total,
        Replayed = Replayed,
        Failed = Failed,
        ReplayedBefore = ReplayedBefore,
        FailedBefore = FailedBefore,
    };
}
