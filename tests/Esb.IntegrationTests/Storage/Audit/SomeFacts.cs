using Esb.Core.Audit;
using Esb.Core.Messages;

namespace Esb.IntegrationTests.Storage.Audit;

/// <summary>Builds audit facts for tests: what a test does not name does not matter to it.</summary>
internal static class SomeFacts
{
    private static long _made;

    /// <summary>Each fact is a millisecond younger than the one before.</summary>
    public static AuditFact Fact(
        AuditKind kind = AuditKind.Recorded,
        Guid? message = null,
        Guid? conversation = null,
        DateTimeOffset? time = null,
        params (string Name, string Value)[] fields
    )
    {
        var at = time ?? DateTimeOffset.UnixEpoch.AddYears(56).AddMilliseconds(Interlocked.Increment(ref _made));
        var id = message ?? Guid.CreateVersion7();
        return AuditFacts.Of(
            new EsbMessage
            {
                Id = id,
                ConversationId = conversation ?? id,
                CreatedAt = at,
            },
            kind,
            new FixedTime(at)
        ) with
        {
            Fields = fields.ToDictionary(field => field.Name, field => field.Value),
        };
    }

    private sealed class FixedTime(DateTimeOffset now) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => now;
    }
}
