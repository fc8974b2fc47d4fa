using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;

namespace Esb.Endpoints.Http.Idempotency;

/// <summary>The header that distinguishes a repetition from a new request.</summary>
internal static class IdempotencyHeader
{
    public const string Name = "Idempotency-Key";

    /// <summary>The header of replayed answers.</summary>
    public const string Replayed = "Idempotency-Replayed";

    private const int MaxLength = 128;

    /// <summary>Returns the key of a request as it was sent; null if absent.</summary>
    /// <exception cref="EsbException"><c>ESB-HTTP-IDEMKEY</c>: the key is empty, too long, not printable ASCII, or repeated.</exception>
    public static string? Read(HttpRequest request)
    {
        var values = request.Headers[Name];
        if (values.Count == 0)
            return null;
        return KeyOf(values)
            ?? throw HttpProblems.Of(
                StatusCodes.Status400BadRequest,
                "ESB-HTTP-IDEMKEY",
                $"{Name} is not one value of 1 to {MaxLength} printable characters of ASCII."
            );
    }

    /// <summary>Returns the key of a request without refusing the request; null if the key is missing or unusable.</summary>
    public static string? Find(HttpRequest request) => KeyOf(request.Headers[Name]);

    /// <summary>Gives the message of a keyed request its id. A repetition that is processed again has the same id, by which its receivers
    /// recognise it.</summary>
    public static EsbMessage Identify(EsbMessage message, string endpoint, string key)
    {
        var id = MessageIds.Derive(Guid.Empty, $"{endpoint}\n{message.Party}\n{key}");
        return message with { Id = id, ConversationId = id };
    }

    private static string? KeyOf(StringValues values) =>
        values is [{ Length: > 0 and <= MaxLength } key] && !key.AsSpan().ContainsAnyExceptInRange(' ', '~') ? key : null;
}
