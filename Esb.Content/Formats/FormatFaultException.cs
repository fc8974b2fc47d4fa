using Esb.Core.Errors;

namespace Esb.Content.Formats;

/// <summary>A text that its format refuses: the place is part of the message, and available for tools.</summary>
/// <param name="code">Stable: <c>ESB-FLAT-…</c>.</param>
/// <param name="message">One plain sentence that names line and column; values are clipped.</param>
/// <param name="kind">Kind of fault.</param>
/// <param name="line">The line, from 1; 0 if unknown.</param>
/// <param name="column">The character in the line, from 1; 0 if the whole line is meant.</param>
/// <param name="inner">The cause, for logs only.</param>
public sealed class FormatFaultException(string code, string message, FaultKind kind, int line = 0, int column = 0, Exception? inner = null)
    : EsbException(code, message, kind, inner)
{
    /// <summary>The line, from 1; 0 if unknown.</summary>
    public int Line => line;

    /// <summary>The character in the line, from 1; 0 if the whole line is meant.</summary>
    public int Column => column;

    /// <summary>The field's name; null if no single field is at fault.</summary>
    public string? Field { get; init; }

    /// <summary>True if only the record is at fault, and the records behind it can be read.</summary>
    public bool IsOfRecord { get; init; }
}
