using Esb.Core.Configuration;

namespace Esb.Host.Management.Validation;

/// <summary>An error or a warning of a configuration in API responses, with its place.</summary>
internal sealed record ConfigErrorView(string Code, string Path, string? Value, string Expected, string? File, int? Line, int? Column)
{
    public static ConfigErrorView Of(ConfigError error) =>
        new(
            error.Code,
            error.Path,
            error.Value,
            error.Expected,
            error.Origin?.Source,
            error.Origin is { Line: > 0 } lined ? lined.Line : null,
            error.Origin is { Column: > 0 } placed ? placed.Column : null
        );
}
