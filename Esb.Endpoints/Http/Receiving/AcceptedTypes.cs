using Microsoft.Net.Http.Headers;

namespace Esb.Endpoints.Http.Receiving;

/// <summary>The content types that an endpoint accepts: names or ranges, without regard to parameters. Empty means any.</summary>
internal sealed class AcceptedTypes(IReadOnlyList<string> ranges)
{
    private readonly MediaTypeHeaderValue[] _ranges = Parse(ranges);

    public static bool IsRange(string text) => MediaTypeHeaderValue.TryParse(text, out _);

    /// <summary>True if some content type is accepted by both lists.</summary>
    public static bool Overlap(IReadOnlyList<string> some, IReadOnlyList<string> others) =>
        Parse(some).Any(one => Parse(others).Any(other => Overlap(one, other)));

    public bool Take(string? contentType) =>
        _ranges.Length == 0
        || (
            MediaTypeHeaderValue.TryParse(contentType, out var type)
            && Array.Exists(_ranges, range => new MediaTypeHeaderValue(type.MediaType).IsSubsetOf(range))
        );

    private static bool Overlap(MediaTypeHeaderValue one, MediaTypeHeaderValue other) =>
        new MediaTypeHeaderValue(one.MediaType).IsSubsetOf(new MediaTypeHeaderValue(other.MediaType))
        || new MediaTypeHeaderValue(other.MediaType).IsSubsetOf(new MediaTypeHeaderValue(one.MediaType));

    // Invalid ranges were refused earlier and match nothing.
    private static MediaTypeHeaderValue[] Parse(IReadOnlyList<string> ranges) =>
        [.. ranges.Where(IsRange).Select(range => MediaTypeHeaderValue.Parse(range))];

    public override string ToString() => string.Join(", ", ranges);
}
