using System.Text;
using Esb.Core.Messages;
using Esb.Core.Replays;

namespace Esb.Host.Management.DeadLetters;

/// <summary>A request to send the body of a dead letter as it came.</summary>
internal record TakenBackEdit
{
    /// <summary>The SHA-256 of the body that would be sent, as the operator saw it: that of the edit, or of the letter.</summary>
    public string? Expected { get; init; }

    public string? Reason { get; init; }

    public string ExpectedDigest() =>
        Expected is { Length: 64 } digest && digest.All(char.IsAsciiHexDigit)
            ? digest.ToLowerInvariant()
            : throw Problems.Parameter("expected", "expected the digest of the body that you read, 64 hexadecimal digits");
}

/// <summary>A request to send another body instead of that of a dead letter.</summary>
internal sealed record LetterBody : TakenBackEdit
{
    /// <summary>A text.</summary>
    public string? Body { get; init; }

    /// <summary>Any other body.</summary>
    public byte[]? BodyBase64 { get; init; }

    /// <summary>Its media type; null for that of the letter.</summary>
    public string? ContentType { get; init; }

    public EditedBody ToBody()
    {
        if (Body is null == BodyBase64 is null)
            throw Problems.Parameter("body", "expected body or bodyBase64");
        if (ContentType is not null && !HeaderRules.IsValue(ContentType))
            throw Problems.Parameter("contentType", "expected one line of text");
        return new EditedBody(Body is not null ? Encoding.UTF8.GetBytes(Body) : BodyBase64, ContentType);
    }
}
