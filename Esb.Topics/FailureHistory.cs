using System.Text.Json;
using System.Text.Json.Serialization;
using Esb.Core.Storage;

namespace Esb.Topics;

/// <summary>The failed attempts of a message as they travel with it in a header. Bounded: <see cref="FailedAttempts"/>.</summary>
internal static class FailureHistory
{
    /// <summary>Null where there are none.</summary>
    public static string? Write(IReadOnlyList<FailedAttempt> failures) => failures.Count == 0
        ? null
        : JsonSerializer.Serialize([.. FailedAttempts.Shorten(failures).TakeLast(FailedAttempts.Most)], FailureJson.Default.IReadOnlyListFailedAttempt);

    /// <summary>What cannot be read is left out: it is no reason to lose the message.</summary>
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
