namespace Esb.Core.Configuration;

/// <summary>The configuration has errors, and nothing of it was started. Lists all errors, not only the first.</summary>
public sealed class ConfigurationRefusedException(IReadOnlyList<ConfigError> errors) : Exception(Describe(errors))
{
    /// <summary>Every error that was found.</summary>
    public IReadOnlyList<ConfigError> Errors { get; } = errors;

    /// <summary>The rejected revision; null if its files could not be read.</summary>
    public string? Revision { get; init; }

    private static string Describe(IReadOnlyList<ConfigError> errors)
    {
        var width = errors.Max(error => error.Code.Length);
        var lines = errors.Select(error => $"  {error.Code.PadRight(width)}  {error.Describe()}");
        var count = errors.Count == 1 ? "1 error" : $"{errors.Count} errors";
        return $"Configuration refused, {count}; nothing was started.{Environment.NewLine}{string.Join(Environment.NewLine, lines)}";
    }
}
