using Esb.Core.Configuration.Settings;

namespace Esb.Content.Formats.JsonLines;

/// <summary>Settings of a format of the type <c>json-lines</c>: one JSON value on each line, in UTF-8.</summary>
public sealed record JsonLinesFormatConfig : FormatConfig
{
    /// <summary>The end of a written line.</summary>
    [Setting("The end of each line that is written; CR LF, LF and CR are read, also mixed.")]
    public LineEnd LineEnd { get; init; } = LineEnd.Lf;
}
