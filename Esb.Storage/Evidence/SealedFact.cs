using System.Security.Cryptography;
using Esb.Core.Audit;
using Esb.Storage.Bodies;

namespace Esb.Storage.Evidence;

/// <summary>A fact with what is kept beside it: its packed body and what stands for it in a chain.</summary>
/// <param name="Fact">The fact.</param>
/// <param name="Body">Its body, packed.</param>
/// <param name="BodyDigest">SHA-256 of the body as it is recorded; unlike <see cref="AuditFact.BodyHash"/> of its beginning, where no more
/// is recorded.</param>
/// <param name="Digest">Stands for the fact.</param>
internal sealed record SealedFact(AuditFact Fact, PackedBody? Body, byte[]? BodyDigest, byte[] Digest)
{
    public static SealedFact Of(AuditFact fact)
    {
        if (fact.Body is not { } body)
            return new SealedFact(fact, null, null, FactDigest.Of(fact, null));
        var bodyDigest = SHA256.HashData(body.Span);
        return new SealedFact(fact, PackedBody.Pack(body), bodyDigest, FactDigest.Of(fact, bodyDigest));
    }
}

/// <summary>A sealed fact with its place in a chain.</summary>
/// <param name="Sealed">The fact.</param>
/// <param name="Chain">The chain; null for a fact of a version without chains, out of an archive.</param>
/// <param name="Head">The chain's head once this fact is in it.</param>
internal sealed record ChainedFact(SealedFact Sealed, Guid? Chain, ChainHead? Head);
