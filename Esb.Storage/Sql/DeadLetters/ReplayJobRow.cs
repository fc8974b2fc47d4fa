using System.Text.Json;
using Esb.Core.Replays;
using Esb.Core.Storage;

namespace Esb.Storage.Sql.DeadLetters;

/// <summary>A row of <c>replay_job</c>.</summary>
internal static class ReplayJobRow
{
    public const string Columns = """
        id, command, fingerprint, request, state, created_at, created_by, reason, changed_at, changed_by, trouble, total, replayed, failed,
          replayed_before, failed_before
        """;

    /// <summary>All columns of a new job.</summary>
    public const string Values = """
        @id, @command, @fingerprint, @request, @state, @createdAt, @createdBy, @reason, @changedAt, @changedBy, @trouble, @total, @replayed,
          @failed, @replayedBefore, @failedBefore
        """;

    public static (string Name, object? Value)[] Parameters(ReplayJob job, IBodyCipher cipher) =>
        [
            ("id", job.Id),
            ("command", job.Command),
            ("fingerprint", job.Fingerprint),
            (
                "request",
                new SqlJson(
                    JsonSerializer
                        .Serialize(Sealed(job, cipher), StorageJson.Default.ReplayRequest)
                        .Replace("\\u0000", "\\uFFFD", StringComparison.Ordinal)
                )
            ),
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

    public static ReplayJob Read(SqlRow row, IBodyCipher cipher) =>
        new()
        {
            Id = row.Id("id"),
            Command = row.Text("command"),
            Fingerprint = row.Text("fingerprint"),
            Request = Opened(row.Json("request", StorageJson.Default.ReplayRequest), row.Id("id"), cipher),
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

    private static ReplayRequest Sealed(ReplayJob job, IBodyCipher cipher) =>
        job.Request.Edit is { Body: { } body } edit
            ? job.Request with
            {
                Edit = edit with { Body = cipher.Seal(body, job.Id) },
            }
            : job.Request;

    // Lists leave the edited body out.
    private static ReplayRequest Opened(ReplayRequest request, Guid job, IBodyCipher cipher) =>
        request.Edit is { Body: { } body } edit ? request with { Edit = edit with { Body = cipher.Open(body, job) } } : request;
}
