using System.Security.Cryptography;
using System.Text.Json;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Microsoft.Extensions.Logging;

namespace Esb.Delivery.Replay;

/// <summary>Carries out operators' decisions about dead letters, and records them.</summary>
internal sealed partial class ReplayDesk(
    ReplayTargets targets,
    IDeadLetterStore letters,
    IReplayJobStore jobs,
    ReplaySignal signal,
    IAuditTrail audit,
    TimeProvider time,
    ILogger<ReplayDesk> logger
) : IDeadLetterDesk
{
    private const int DiscardGroup = 500;

    public async Task<ReplayPreview> PreviewAsync(ReplayRequest request, CancellationToken cancellationToken)
    {
        var groups = await GroupAsync(request, cancellationToken);
        return new ReplayPreview(
            Math.Min(groups.Sum(group => group.Count), request.Limit ?? long.MaxValue),
            groups,
            [.. Obstacles(request, groups).Select(obstacle => obstacle.Message)]
        );
    }

    public async Task<ReplayJob> ReplayAsync(
        ReplayRequest request,
        string? command,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        var fingerprint = FingerprintOf(request);
        if (await FindSameAsync(command, fingerprint, cancellationToken) is { } known)
            return known;

        var groups = await GroupAsync(request, cancellationToken);
        if (groups.Count == 0)
            // sent twice: the other job has the letters
            return await FindSameAsync(command, fingerprint, cancellationToken) ?? throw Nothing();
        if (Obstacles(request, groups).FirstOrDefault() is { } obstacle)
            throw obstacle;

        var now = time.GetUtcNow();
        var id = Guid.CreateVersion7(now);
        var job =
            await jobs.CreateAsync(
                new ReplayJob
                {
                    Id = id,
                    Command = command ?? id.ToString(),
                    Fingerprint = fingerprint,
                    Request = request,
                    CreatedAt = now,
                    CreatedBy = decision.By,
                    Reason = decision.Reason,
                },
                cancellationToken
            ) ?? throw Nothing();
        if (job.Id != id)
            return SameCommand(job, fingerprint); // sent twice concurrently

        LogMade(job.Id, job.Total, decision.By, decision.Reason);
        signal.Raise();
        return job;
    }

    public async Task<ReplayJob?> ChangeAsync(Guid job, ReplayState state, OperatorDecision decision, CancellationToken cancellationToken)
    {
        if (await jobs.ChangeAsync(job, state, decision, cancellationToken) is not { } changed)
            return null;
        if (changed.State != state)
            throw Refused("ESB-REPLAY-OVER", $"The job is {changed.State.ToString().ToLowerInvariant()} already.");

        LogChanged(job, state, decision.By, decision.Reason);
        signal.Raise();
        return changed;
    }

    public async Task<long> DiscardAsync(DeadLetterFilter filter, OperatorDecision decision, CancellationToken cancellationToken)
    {
        var total = 0L;
        IReadOnlyList<DeadLetterSummary> discarded;
        do
        {
            discarded = await letters.DiscardAsync(filter, decision, DiscardGroup, cancellationToken);
            await Task.WhenAll(discarded.Select(letter => RecordAsync(letter, decision).AsTask()));
            total += discarded.Count;
        } while (discarded.Count == DiscardGroup);

        if (total > 0)
            LogDiscarded(total, decision.By, decision.Reason);
        return total;
    }

    public async Task<KeptDeadLetter?> EditAsync(
        Guid letter,
        EditedBody? body,
        string expected,
        OperatorDecision decision,
        CancellationToken cancellationToken
    )
    {
        var now = time.GetUtcNow();
        var edit = body is null
            ? null
            : new LetterEdit(Guid.CreateVersion7(now), body.Bytes, body.ContentType, now, decision.By, decision.Reason);
        if (await letters.EditAsync(letter, edit, expected, cancellationToken) is not { } before)
            return null;
        var after = before with { Edit = edit };
        LogEdited(letter, decision.By, decision.Reason);
        await RecordEditAsync(before, after, decision);
        return after;
    }

    private async Task RecordEditAsync(KeptDeadLetter before, KeptDeadLetter after, OperatorDecision decision)
    {
        var fact = FactOf(after.Summary, AuditKind.Recorded, decision) with
        {
            Name = "dead-letter-edited",
            Fields = new Dictionary<string, string>
            {
                ["operator"] = decision.By,
                ["letter"] = after.Summary.Id.ToString(),
                ["body-before"] = LetterEdit.DigestOf(before.CurrentBody),
                ["body-after"] = LetterEdit.DigestOf(after.CurrentBody),
            },
        };
        try
        {
            await audit.RecordAsync(fact, CancellationToken.None);
        }
        catch (EsbException ex)
        {
            LogEditNotRecorded(after.Summary.Id, decision.By, ex); // the edit is stored, and a replay records both digests again
        }
    }

    private async Task<ReplayJob?> FindSameAsync(string? command, string fingerprint, CancellationToken cancellationToken) =>
        command is not null && await jobs.FindAsync(command, cancellationToken) is { } known ? SameCommand(known, fingerprint) : null;

    private IEnumerable<EsbException> Obstacles(ReplayRequest request, IReadOnlyList<DeadLetterGroup> groups)
    {
        var count = groups.Sum(group => group.Count);
        IEnumerable<EsbException> unlimited =
            request.Limit is null && count > ReplayRequest.MaxUnlimited
                ?
                [
                    new EsbException(
                        "ESB-REPLAY-LIMIT",
                        $"There are {count} such dead letters; say as limit how many are meant.",
                        FaultKind.Invalid
                    ),
                ]
                : [];
        return unlimited.Concat(targets.Obstacles(request, groups));
    }

    private Task<IReadOnlyList<DeadLetterGroup>> GroupAsync(ReplayRequest request, CancellationToken cancellationToken) =>
        letters.GroupAsync(
            request.Letters with
            {
                State = request.Letters.State ?? DeadLetterState.Open,
            },
            byCause: true,
            cancellationToken
        );

    // The decision is already stored: it is recorded even if the caller disconnects.
    private ValueTask RecordAsync(DeadLetterSummary letter, OperatorDecision decision) =>
        audit.RecordAsync(FactOf(letter, AuditKind.Discarded, decision), CancellationToken.None);

    private AuditFact FactOf(DeadLetterSummary letter, AuditKind kind, OperatorDecision decision) =>
        new()
        {
            Id = Guid.CreateVersion7(time.GetUtcNow()),
            Kind = kind,
            Time = time.GetUtcNow(),
            MessageId = letter.MessageId,
            ConversationId = letter.ConversationId,
            Endpoint = letter.Endpoint,
            Subject = letter.Subject,
            Reason = decision.Reason,
            Fields = new Dictionary<string, string> { ["operator"] = decision.By },
        };

    private static string FingerprintOf(ReplayRequest request) =>
        Convert.ToHexString(SHA256.HashData(JsonSerializer.SerializeToUtf8Bytes(request)));

    private static ReplayJob SameCommand(ReplayJob known, string fingerprint) =>
        known.Fingerprint == fingerprint
            ? known
            : throw Refused(
                "ESB-REPLAY-COMMAND",
                $"The command was used for job {known.Id}, which asks for something else; name this one differently."
            );

    private static EsbException Nothing() =>
        Refused("ESB-REPLAY-NOTHING", "No such dead letter is open; what a job has, or has sent, is not sent by another.");

    private static EsbException Refused(string code, string message) => new(code, message, FaultKind.Invalid) { Status = 409 };

    [LoggerMessage(
        EventId = 2601,
        Level = LogLevel.Information,
        Message = "Replay job {Job} of {Count} dead letters was made by {Operator}: {Reason}"
    )]
    private partial void LogMade(Guid job, long count, string @operator, string? reason);

    [LoggerMessage(EventId = 2602, Level = LogLevel.Information, Message = "Replay job {Job} was set to {State} by {Operator}: {Reason}")]
    private partial void LogChanged(Guid job, ReplayState state, string @operator, string? reason);

    [LoggerMessage(EventId = 2603, Level = LogLevel.Information, Message = "{Count} dead letters were discarded by {Operator}: {Reason}")]
    private partial void LogDiscarded(long count, string @operator, string? reason);

    [LoggerMessage(EventId = 2604, Level = LogLevel.Information, Message = "Dead letter {Letter} was edited by {Operator}: {Reason}")]
    private partial void LogEdited(Guid letter, string @operator, string? reason);

    [LoggerMessage(
        EventId = 2605,
        Level = LogLevel.Error,
        Message = "The edit of dead letter {Letter} by {Operator} could not be recorded; a replay of it will be"
    )]
    private partial void LogEditNotRecorded(Guid letter, string @operator, Exception exception);
}
