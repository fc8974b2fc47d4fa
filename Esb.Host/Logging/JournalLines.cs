namespace Esb.Host.Logging;

/// <summary>Lines of the systemd journal, which takes the priority of a line from a prefix such as <c>&lt;3&gt;</c>
/// (https://www.freedesktop.org/software/systemd/man/latest/sd-daemon.html).</summary>
internal static class JournalLines
{
    /// <summary>Prefix of errors.</summary>
    public const string Error = "<3>";

    /// <summary>True if a stream of this process leads to the journal.</summary>
    /// <param name="variables">The environment variables.</param>
    /// <param name="descriptor">The stream: 1 for standard output, 2 for standard error.</param>
    /// <remarks>Children of a service inherit the variable, also where their output leads elsewhere, so the socket is compared.</remarks>
    public static bool IsTarget(IReadOnlyDictionary<string, string> variables, int descriptor)
    {
        if (!OperatingSystem.IsLinux() || variables.GetValueOrDefault("JOURNAL_STREAM")?.Split(':') is not [_, var inode])
            return false;
        try
        {
            return new FileInfo($"/proc/self/fd/{descriptor}").LinkTarget == $"socket:[{inode}]";
        }
        catch (IOException)
        {
            return false;
        }
    }

    /// <summary>The prefix of a level.</summary>
    public static string PrefixOf(LogLevel level) =>
        level switch
        {
            LogLevel.Critical => "<2>",
            LogLevel.Error => Error,
            LogLevel.Warning => "<4>",
            LogLevel.Information => "<6>",
            _ => "<7>",
        };

    /// <summary>The text with a prefix at each line.</summary>
    public static string Prefixed(string prefix, string text) =>
        string.Join('\n', text.TrimEnd('\r', '\n').Split('\n').Select(line => $"{prefix}{line.TrimEnd('\r')}"));
}
