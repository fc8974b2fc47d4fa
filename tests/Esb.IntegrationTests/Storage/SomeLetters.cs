using Esb.Core.Messages;
using Esb.Core.Replays;
using Esb.Core.Storage;

namespace Esb.IntegrationTests.Storage;

internal static class SomeLetters
{
    public static readonly DateTimeOffset Now = new(2026, 3, 1, 12, 0, 0, TimeSpan.Zero);

    public static DeadLetter Letter(string endpoint = "orders-db", string reason = "The database did not answer.", string? key = null)
    {
        var id = Guid.CreateVersion7();
        var message = new EsbMessage
        {
            Id = id,
            ConversationId = id,
            CreatedAt = Now,
            Subject = "orders.accepted",
            Key = key,
        };
        return new DeadLetter(message, endpoint, "ESB-SQL-TIMEOUT", reason, null, 3, Now.AddSeconds(1), Now.AddSeconds(2));
    }

    /// <summary>The letter after its message failed once more.</summary>
    public static DeadLetter Again(this DeadLetter letter, int minutes = 1) =>
        letter with
        {
            Code = "ESB-SQL-CONSTRAINT",
            Reason = "The row exists.",
            Attempts = 1,
            FirstAttempt = letter.LastAttempt.AddMinutes(minutes),
            LastAttempt = letter.LastAttempt.AddMinutes(minutes),
            Failures = [new FailedAttempt(letter.LastAttempt.AddMinutes(minutes), "ESB-SQL-CONSTRAINT", "The row exists.")],
        };

    /// <summary>A job that nobody has made yet.</summary>
    public static ReplayJob Job(ReplayRequest request) =>
        new()
        {
            Id = Guid.CreateVersion7(),
            Command = $"command {Guid.NewGuid()}",
            Fingerprint = "f",
            Request = request,
            CreatedAt = Now,
            CreatedBy = "ada",
        };
}
