using Microsoft.Net.Http.Headers;

namespace Esb.Endpoints.Http;

/// <summary>The content types that an endpoint takes: names or ranges, whose parameters do not matter. None means any.</summary>
internal sealed class AcceptedTypes(IReadOnlyList<string> ranges)
{
    private readonly MediaTypeHeaderValue[] _ranges = [.. ranges.Select(range => MediaTypeHeaderValue.Parse(range))];

    public static bool IsRange(string text) => MediaTypeHeaderValue.TryParse(text, out _);

    public bool Take(string? contentType) =>
        _ranges.Length == 0
        || (MediaTypeHeaderValue.TryParse(contentType, out var type) && Array.Exists(_ranges, range => new MediaTypeHeaderValue(type.MediaType).IsSubsetOf(range)));

    public override string ToString() => string.Join(", ", ranges);
}
