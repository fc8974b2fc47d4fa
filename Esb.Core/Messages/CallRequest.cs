namespace Esb.Core.Messages;

/// <summary>What a call demands of the request to the external system, for protocols that have it (HTTP). Immutable.</summary>
/// <remarks>Scheme and host are not among it: they come from the configuration of the endpoint alone.</remarks>
public sealed record CallRequest
{
    /// <summary>The methods that a request may have.</summary>
    public static readonly IReadOnlyList<string> Methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

    /// <summary>The path, percent-encoded and beginning with a slash; it follows the path of the endpoint's url. Null for the
    /// endpoint's.</summary>
    public string? Path { get; init; }

    /// <summary>Parameters of the query, by name, not encoded; they take the place of the endpoint's of the same name. A parameter whose
    /// value is null is left out.</summary>
    public IReadOnlyList<KeyValuePair<string, string?>> Query { get; init; } = [];

    /// <summary>The method; null for the endpoint's.</summary>
    public string? Method { get; init; }

    /// <summary>Headers that are sent besides those of the message, whatever the allow-list of the endpoint says: the configuration names
    /// them.</summary>
    public IReadOnlyList<KeyValuePair<string, string>> Headers { get; init; } = [];
}
