using Esb.Core.Audit;

namespace Esb.Tests.Storage;

/// <summary>Builds audit facts for tests: what a test does not name does not matter to it.</summary>
internal static class SomeFacts
{
    public static AuditFact Fact(
        AuditKind kind = AuditKind.Recorded,
        Guid? message = null,
        DateTimeOffset? time = null,
        params (string Name, string Value)[] fields
    ) =>
        AuditFacts.Of(
            Some.Message() with
            {
                Id = message ?? Guid.CreateVersion7(),
            },
            kind,
            time is null ? TimeProvider.System : new FixedTime(time.Value)
        ) with
        {
            Fields = fields.ToDictionary(field => field.Name, field => field.Value),
        };

    private sealed class FixedTime(DateTimeOffset now) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => now;
    }
}
