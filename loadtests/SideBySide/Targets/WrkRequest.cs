namespace SideBySide.Targets;

/// <summary>What wrk posts, and what must come back.</summary>
/// <param name="Body">The file that is posted.</param>
/// <param name="Flaw">What is wrong with the first answer, or null; all others must be equal to it.</param>
internal sealed record WrkRequest(string Url, string Body, string ContentType, Func<byte[], string?> Flaw)
{
    public int Status { get; init; } = 200;

    /// <summary>A Lua pattern for answers that differ from one another.</summary>
    public string? Pattern { get; init; }
}
