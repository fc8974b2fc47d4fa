using System.Text.Json;
using Esb.Core.Replays;

namespace Esb.Storage.Sql.DeadLetters;

/// <summary>A row of <c>replay_job</c>.</summary>
internal static class ReplayJobRow
{
    public const string Columns =
        """
        id, command, fingerprint, request, state, created_at, created_by, reason, changed_at, changed_by, trouble, total, replayed, failed, replayed_before, failed_before
        """;

    /// <summary>All columns of a new job.</summary>
    public const string Values =
        """
        @id, @command, @fingerprint, @request, @state, @createdAt, @createdBy, @reason, @changedAt, @changedBy, @trouble, @total, @replayed, @failed, @replayedBefore, @failedBefore
        """;

    public static (string Name, object? Value)[] Parameters(ReplayJob job) =>
    [
        ("id", job.Id),
        ("command", job.Command),
        ("fingerprint", job.Fingerprint),
        ("request", new SqlJson(JsonSerializer.Serialize(job.Request, StorageJson.Default.ReplayRequest).Replace("\\u0000", "\\uFFFD", StringComparison.Ordinal))),
        ("state", job.State),
        ("createdAt", job.CreatedAt),
        ("createdBy", job.CreatedBy),
        ("reason", job.Reason),
        ("changedAt", job.ChangedAt),
        ("changedBy", job.ChangedBy),
        ("trouble", job.Trouble),
        ("total", job.Total),
        ("replayed", job.Replayed),
        ("failed", job.Failed),
        ("replayedBefore", job.ReplayedBefore),
        ("failedBefore", job.FailedBefore),
    ];

    public static ReplayJob Read(SqlRow row) => new()
    {
        Id = row.Id("id"),
        Command = row.Text("command"),
        Fingerprint = row.Text("fingerprint"),
        Request = row.Json("request", StorageJson.Default.ReplayRequest),
        State = row.State<ReplayState>("state"),
        CreatedAt = row.Time("created_at"),
        CreatedBy = row.Text("created_by"),
        Reason = row.TextOrNull("reason"),
        ChangedAt = row.TimeOrNull("changed_at"),
        ChangedBy = row.TextOrNull("changed_by"),
        Trouble = row.TextOrNull("trouble"),
        Total = row.Long("total"),
        Replayed = row.Long("replayed"),
        Failed = row.Long("failed"),
        ReplayedBefore = row.Long("replayed_before"),
        FailedBefore = row.Long("failed_before"),
    };
}
