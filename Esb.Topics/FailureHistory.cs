using System.Text.Json;
using System.Text.Json.Serialization;
using Esb.Core.Storage;

namespace Esb.Topics;

/// <summary>Converts the failed attempts of a message to and from the header that carries them. Bounded:
/// <see cref="FailedAttempts"/>.</summary>
internal static class FailureHistory
{
    /// <summary>Returns the header; null if there are no failed attempts.</summary>
    public static string? Write(IReadOnlyList<FailedAttempt> failures) =>
        failures.Count == 0
            ? null
            : JsonSerializer.Serialize(
                [.. FailedAttempts.Shorten(failures).TakeLast(FailedAttempts.Most)],
                FailureJson.Default.IReadOnlyListFailedAttempt
            );

    /// <summary>Returns the failed attempts. Unreadable content is omitted: it is no reason to lose the message.</summary>
    public static IReadOnlyList<FailedAttempt> Read(string? header)
    {
        try
        {
            return header is null ? [] : JsonSerializer.Deserialize(header, FailureJson.Default.IReadOnlyListFailedAttempt) ?? [];
        }
        catch (JsonException)
        {
            return [];
        }
    }
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(IReadOnlyList<FailedAttempt>))]
internal sealed partial class FailureJson : JsonSerializerContext;
