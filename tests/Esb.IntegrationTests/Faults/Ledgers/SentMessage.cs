namespace Esb.IntegrationTests.Faults.Ledgers;

/// <summary>One line of the ledger of what was sent. Written before the message is sent, and again once its outcome is known; the last line
/// counts.</summary>
/// <param name="Id">The sender's own name for it: its key and sequence.</param>
/// <param name="Key">Its order key.</param>
/// <param name="Sequence">Its place among the messages of its key, from 1.</param>
/// <param name="Subject">The subject it goes to.</param>
/// <param name="Hash">SHA-256 of its body, in hexadecimal digits.</param>
/// <param name="SentAt">When its sending began.</param>
internal sealed record SentMessage(string Id, string Key, int Sequence, string Subject, string Hash, DateTimeOffset SentAt)
{
    public SendOutcome Outcome { get; init; } = SendOutcome.Unknown;

    /// <summary>When the outcome was known; null while it is not.</summary>
    public DateTimeOffset? OutcomeAt { get; init; }

    /// <summary>How long the sender waited for it.</summary>
    public TimeSpan Took { get; init; }

    /// <summary>The id that the bus gave it; null where it said none.</summary>
    public Guid? MessageId { get; init; }
}
