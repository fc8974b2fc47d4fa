using Esb.Core.Audit;

namespace Esb.Storage.Evidence;

/// <summary>A fact as it is found in a store, with its place in a chain.</summary>
internal sealed record StoredLink
{
    public required Guid Id { get; init; }

    /// <summary>The fact, with the state of its body as it was recorded, even where that has been erased since; null where it cannot be
    /// read.</summary>
    public required AuditFact? Fact { get; init; }

    /// <summary>The digest that was recorded of the body.</summary>
    public byte[]? BodyDigest { get; init; }

    /// <summary>The chain; null where an early version recorded the fact.</summary>
    public Guid? Chain { get; init; }

    /// <summary>Its number in the chain.</summary>
    public long Number { get; init; }

    /// <summary>The link of the chain; empty where <see cref="IsCovered"/>.</summary>
    public byte[] Link { get; init; } = [];

    /// <summary>True if it shares a row with the next fact, and so has no link of its own: the next one's covers it.</summary>
    public bool IsCovered { get; init; }

    /// <summary>The message whose recorded body is not there any more; null where nothing was erased.</summary>
    public Guid? Erased => BodyDigest is not null && Fact is { Body: null } ? Fact.MessageId : null;

    /// <summary>True if a fact recorded that erasure when this was archived; the fact may be gone since.</summary>
    public bool IsErasureProven { get; init; }
}
