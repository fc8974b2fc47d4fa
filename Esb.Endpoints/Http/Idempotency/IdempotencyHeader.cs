using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Receiving;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;

namespace Esb.Endpoints.Http.Idempotency;

/// <summary>The header by which a sender tells a repetition from a new request.</summary>
internal static class IdempotencyHeader
{
    public const string Name = "Idempotency-Key";

    /// <summary>On answers that were given before.</summary>
    public const string Replayed = "Idempotency-Replayed";

    private const int MaxLength = 128;

    /// <summary>The key of a request, as it was sent; null where there is none.</summary>
    /// <exception cref="EsbException"><c>ESB-HTTP-IDEMKEY</c>: it is empty, too long, not of printable ASCII, or given twice.</exception>
    public static string? Read(HttpRequest request)
    {
        var values = request.Headers[Name];
        if (values.Count == 0) return null;
        return KeyOf(values) ?? throw HttpProblems.Of(StatusCodes.Status400BadRequest, "ESB-HTTP-IDEMKEY", $"{Name} is not one value of 1 to {MaxLength} printable characters of ASCII.");
    }

    /// <summary>The key of a request that is not ours to refuse; null where there is none, or none that can be used.</summary>
    public static string? Find(HttpRequest request) => KeyOf(request.Headers[Name]);

    /// <summary>The message of a keyed request: a repetition that is worked on after all has the same id, by which those behind us recognise it.</summary>
    public static EsbMessage Identify(EsbMessage message, string endpoint, string key)
    {
        var id = MessageIds.Derive(Guid.Empty, $"{endpoint}\n{message.Party}\n{key}");
        return message with { Id = id, ConversationId = id };
    }

    private static string? KeyOf(StringValues values) =>
        values is [{ Length: > 0 and <= MaxLength } key] && !key.AsSpan().ContainsAnyExceptInRange(' ', '~') ? key : null;
}
