namespace SideBySide.Scenarios;

/// <summary>The two numbers of an endpoint.</summary>
internal sealed record Pool(string Endpoint, int Size, int Threads)
{
    public IEnumerable<KeyValuePair<string, string>> Variables =>
        [
            new($"ESB__ENDPOINTS__{Endpoint.ToUpperInvariant().Replace('-', '_')}__POOLSIZE", $"{Size}"),
            new($"ESB__ENDPOINTS__{Endpoint.ToUpperInvariant().Replace('-', '_')}__PROCESSINGTHREADS", $"{Threads}"),
        ];
}
